/** Processes the stored original of a document again, with another chunker if one is named. */
import { queueRun } from "../../db/runs/requests.ts";
import { PRIORITY } from "../../domain/work/processing.ts";
import type { Caller, CommandDeps } from "../caller.ts";
import { type Chunking, requireEmbeddable } from "./chunking.ts";
import { type QueuedRun, queueDocumentRun } from "./queue-document-run.ts";

interface Reprocessing extends Chunking {
  readonly id: string;
}

/**
 * The published version stays searchable until the new one replaces it. A run that is still active is
 * superseded.
 * @throws DomainError `not_found`, `permission_denied`; ValidationProblems if chunks would be larger than the
 * model takes
 */
export async function reprocessDocument(
  deps: Pick<CommandDeps, "db" | "dispatcher" | "embedding">,
  caller: Caller,
  { id, chunkerName, chunkerConfig }: Reprocessing,
): Promise<QueuedRun> {
  requireEmbeddable(chunkerConfig, deps.embedding.maxTokens);
  return queueDocumentRun(deps, caller, {
    documentId: id,
    queue: (sql, runId) =>
      queueRun(sql, {
        runId,
        documentId: id,
        trigger: "reprocess",
        priority: PRIORITY.interactive,
        chunkerName,
        chunkerConfig,
        createdBy: caller.principal.user.id,
        batchId: null,
        held: false,
      }),
  });
}
