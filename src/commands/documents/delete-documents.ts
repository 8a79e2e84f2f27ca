/** Deletes many documents. Later requests see none of them; what they take is purged in the background. */
import { decide } from "../../auth/policy.ts";
import { markDocumentsDeleted } from "../../db/deletions/accept.ts";
import { countDeletion, type DeletionCounts } from "../../db/deletions/counts.ts";
import type { DocumentPlace } from "../../db/documents/search.ts";
import type { Sql } from "../../db/pool.ts";
import { inTenantContended } from "../../db/retry-deadlocks.ts";
import type { Caller, CommandDeps } from "../caller.ts";
import { recordChanges } from "../record-change.ts";
import {
  type BulkRequest,
  type BulkSummary,
  reachDocuments,
  type Refusal,
  summarize,
} from "./choose-documents.ts";

/** Has the names of the API, because the answer is kept for repeats. */
interface BulkDeletion extends BulkSummary {
  readonly deletion: DeletionCounts;
}

/**
 * Raw files and cached vectors stay, as with the deletion of one document.
 * @throws ValidationProblems if filters and folders choose too many. A document that the caller may not
 * delete is no error: it is answered in the results.
 * @see test/api/routes/documents/bulk.stack.test.ts
 */
export async function deleteDocuments(
  deps: Pick<CommandDeps, "db" | "dispatcher">,
  caller: Caller,
  request: BulkRequest,
): Promise<BulkDeletion> {
  const { principal } = caller;
  const { organization } = principal;
  const answer = await inTenantContended(deps.db, organization, async (sql) => {
    const { asked, places } = await reachDocuments(sql, principal, "documents:delete", request);
    const outcomes = new Map(
      places.map((place): [string, Refusal | null] => [
        place.id,
        decide(principal, "documents:delete", place) === "allow" ? null : "forbidden",
      ]),
    );
    const leaving = places.filter(({ id }) => outcomes.get(id) === null);
    const deletion = await countDeletion(sql, {
      organizationId: organization.id,
      kind: "document",
      ids: leaving.map(({ id }) => id),
    });
    if (!request.dryRun) await erase(sql, caller, leaving);
    const done = { ...summarize(asked, "documents:delete", outcomes), deletion };
    await caller.keepAnswer?.(sql, done);
    return done;
  });
  if (!request.dryRun) deps.dispatcher.wakeDeletions(organization.id);
  return answer;
}

async function erase(sql: Sql, caller: Caller, places: readonly DocumentPlace[]): Promise<void> {
  const { organization, user } = caller.principal;
  await markDocumentsDeleted(sql, {
    organization,
    userId: user.id,
    targetIds: places.map(({ id }) => id),
  });
  await recordChanges(
    sql,
    caller,
    "documents:delete",
    places.map(({ id, space_id: spaceId, folder_id: folderId }) => ({
      type: "document",
      id,
      spaceId,
      events: [{ type: "document.deleted", data: { folder_id: folderId } }],
    })),
  );
}
