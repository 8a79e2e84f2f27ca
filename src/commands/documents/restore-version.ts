/** Publishes the version before the published one again, as a new version. No older version is kept. */
import { queueRestore } from "../../db/documents/restore-version.ts";
import type { Caller, CommandDeps } from "../caller.ts";
import { type QueuedRun, queueDocumentRun } from "./queue-document-run.ts";

/**
 * @throws DomainError `not_found` for the document or the version, `permission_denied`; `bad_request` if the
 * version is the published one, never was published, or its text is not kept any more
 */
export async function restoreVersion(
  deps: Pick<CommandDeps, "db" | "dispatcher" | "embedding">,
  caller: Caller,
  { documentId, version }: { readonly documentId: string; readonly version: number },
): Promise<QueuedRun> {
  return queueDocumentRun(deps, caller, {
    documentId,
    queue: (sql, runId) =>
      queueRestore(sql, {
        documentId,
        version,
        runId,
        createdBy: caller.principal.user.id,
        embeddingModel: deps.embedding.name,
      }),
  });
}
