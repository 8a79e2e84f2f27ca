/** Changes the metadata of a document, or moves it to another folder. Nothing is processed again. */
import { isDeepStrictEqual } from "node:util";
import { authorize } from "../../auth/policy.ts";
import type { ToldEvent } from "../../db/audit/append.ts";
import { moveDocuments, readOwnMetadata, writeOwnMetadata } from "../../db/documents/change.ts";
import { lockLiveFolder } from "../../db/documents/folders.ts";
import { type DocumentRow, findDocument } from "../../db/documents/read.ts";
import type { Sql } from "../../db/pool.ts";
import { inTenantContended } from "../../db/retry-deadlocks.ts";
import { mergePatch } from "../../domain/merge-patch.ts";
import type { Principal } from "../../domain/tenancy/principal.ts";
import { MAX_METADATA_CHARACTERS, SERVICE_METADATA } from "../../schema/documents/changes.ts";
import { ValidationProblems, valueError } from "../../schema/requests/problem.ts";
import type { Caller, CommandDeps } from "../caller.ts";
import { type IfUnchanged, requireUnchanged } from "../etag.ts";
import { requireParent } from "../folders/folder.ts";
import { recordChange } from "../record-change.ts";
import { documentEtag, lockDocumentFor } from "./document.ts";

interface DocumentUpdate extends IfUnchanged {
  /**
   * A JSON merge patch (RFC 7396): null removes a key. The service's own keys may be repeated unchanged.
   * Undefined changes nothing.
   */
  readonly metadata: Readonly<Record<string, unknown>> | undefined;
  /** Null moves the document to the root of its space; undefined leaves it where it is. */
  readonly folderId: string | null | undefined;
}

/**
 * @throws DomainError `not_found` for the document or the folder, `permission_denied`, `precondition_failed`,
 * `bad_request` for a folder of another space; ValidationProblems if the metadata would become too large, or
 * what is the service's would change.
 */
export async function updateDocument(
  deps: Pick<CommandDeps, "db">,
  caller: Caller,
  { id, ifMatch, metadata, folderId }: DocumentUpdate,
): Promise<DocumentRow> {
  const { principal } = caller;
  const changed = await inTenantContended(deps.db, principal.organization, async (sql) => {
    const document = await lockDocumentFor(sql, principal, "documents:update", id);
    requireUnchanged(ifMatch, documentEtag(document));
    if (metadata !== undefined)
      await writeOwnMetadata(
        sql,
        id,
        mergeMetadata(await readOwnMetadata(sql, id), withoutServices(metadata, document.doc_metadata)),
      );
    if (folderId !== undefined) await move(sql, principal, document, folderId);
    await recordChange(sql, caller, "documents:update", {
      type: "document",
      id,
      spaceId: document.space_id,
      events: eventsOf(document, { metadata, folderId }),
    });
    return findDocument(sql, principal, id);
  });
  authorize(principal, "documents:update", changed);
  return changed;
}

/** A move is an event of its own, which a change of metadata in the same request precedes. */
function eventsOf(
  document: DocumentRow,
  { metadata, folderId }: Pick<DocumentUpdate, "metadata" | "folderId">,
): ToldEvent[] {
  if (folderId === undefined || folderId === document.folder_id) return [{ type: "document.updated" }];
  const moved: ToldEvent = {
    type: "document.moved",
    data: { folder_id: folderId, previous_folder_id: document.folder_id },
  };
  return metadata === undefined ? [moved] : [{ type: "document.updated" }, moved];
}

type Metadata = Readonly<Record<string, unknown>>;

/**
 * The patch without the members that are the service's, so that what was read may be changed and written.
 * @throws ValidationProblems if one of them is not as it is in `stored`.
 */
function withoutServices(patch: Metadata, stored: Metadata): Metadata {
  const sent = Object.entries(patch);
  const changed = sent.filter(
    ([key, value]) => SERVICE_METADATA.includes(key) && !isDeepStrictEqual(value, stored[key]),
  );
  if (changed.length > 0)
    throw new ValidationProblems(
      changed.map(([key, value]) =>
        valueError(
          ["body", "doc_metadata", key],
          `${key} is read-only: send it unchanged, or omit it`,
          value,
        ),
      ),
    );
  return Object.fromEntries(sent.filter(([key]) => !SERVICE_METADATA.includes(key)));
}

function mergeMetadata(
  metadata: Record<string, unknown>,
  patch: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const merged = mergePatch(metadata, patch);
  if (JSON.stringify(merged).length > MAX_METADATA_CHARACTERS) {
    throw new ValidationProblems([
      valueError(
        ["body", "doc_metadata"],
        `the metadata as a whole must have at most ${MAX_METADATA_CHARACTERS} characters as JSON`,
      ),
    ]);
  }
  return merged;
}

async function move(
  sql: Sql,
  principal: Principal,
  document: DocumentRow,
  folderId: string | null,
): Promise<void> {
  if (folderId !== null) {
    await requireParent(sql, principal, document.space_id, folderId);
    await lockLiveFolder(sql, folderId);
  }
  await moveDocuments(sql, [document.id], folderId);
}
