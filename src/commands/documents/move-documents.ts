/** Moves many documents to a folder, or to the root of their spaces. Nothing is processed again. */
import { decide } from "../../auth/policy.ts";
import { moveDocuments as writeMoves } from "../../db/documents/change.ts";
import { findFolder, type FolderRow, lockLiveFolder } from "../../db/documents/folders.ts";
import type { DocumentPlace } from "../../db/documents/search.ts";
import type { Sql } from "../../db/pool.ts";
import { inTenantContended } from "../../db/retry-deadlocks.ts";
import type { Principal } from "../../domain/tenancy/principal.ts";
import type { Caller, CommandDeps } from "../caller.ts";
import { authorizeFolder } from "../folders/folder.ts";
import { recordChanges } from "../record-change.ts";
import {
  type BulkRequest,
  type BulkSummary,
  reachDocuments,
  type Refusal,
  summarize,
} from "./choose-documents.ts";

interface BulkMove extends BulkRequest {
  /** Null moves each document to the root of its space. */
  readonly folderId: string | null;
}

/**
 * A document that is there already stays as it is, which is no refusal.
 * @throws DomainError `not_found` for the folder; ValidationProblems if filters and folders choose too many.
 * A document that the caller may not move is no error: it is answered in the results.
 * @see test/api/routes/documents/bulk.stack.test.ts
 */
export async function moveDocuments(
  deps: Pick<CommandDeps, "db">,
  caller: Caller,
  request: BulkMove,
): Promise<BulkSummary> {
  const { principal } = caller;
  return inTenantContended(deps.db, principal.organization, async (sql) => {
    const folder = await findTarget(sql, principal, request.folderId);
    const { asked, places } = await reachDocuments(sql, principal, "documents:update", request);
    const outcomes = new Map(places.map((place) => [place.id, refusalOf(principal, place, folder)]));
    const moving = places.filter(
      ({ id, folder_id: before }) => outcomes.get(id) === null && before !== request.folderId,
    );
    if (!request.dryRun) await move(sql, caller, moving, request.folderId);
    const summary = summarize(asked, "documents:update", outcomes);
    await caller.keepAnswer?.(sql, summary);
    return summary;
  });
}

async function findTarget(sql: Sql, principal: Principal, id: string | null): Promise<FolderRow | null> {
  if (id === null) return null;
  const folder = await findFolder(sql, principal.reach, id);
  authorizeFolder(principal, "folders:read", folder);
  return folder;
}

function refusalOf(principal: Principal, place: DocumentPlace, folder: FolderRow | null): Refusal | null {
  if (decide(principal, "documents:update", place) !== "allow") return "forbidden";
  return folder !== null && folder.home_space_id !== place.space_id ? "wrong_space" : null;
}

async function move(
  sql: Sql,
  caller: Caller,
  places: readonly DocumentPlace[],
  folderId: string | null,
): Promise<void> {
  if (folderId !== null) await lockLiveFolder(sql, folderId);
  if (places.length === 0) return;
  await writeMoves(
    sql,
    places.map(({ id }) => id),
    folderId,
  );
  await recordChanges(
    sql,
    caller,
    "documents:update",
    places.map(({ id, space_id: spaceId, folder_id: before }) => ({
      type: "document",
      id,
      spaceId,
      events: [{ type: "document.moved", data: { folder_id: folderId, previous_folder_id: before } }],
    })),
  );
}
