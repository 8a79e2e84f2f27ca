/** Contract of what an integrity check found. */
import { z } from "zod";
import { field } from "../field.ts";
import { Timestamp } from "../fields.ts";
import { DocumentId, RunId } from "../ids.ts";

const IntegrityFinding = z
  .object({
    code: field.text(
      "What is wrong: published_run_missing, chunks_incomplete, embeddings_incomplete, index_incomplete, " +
        "published_hidden, entries_not_served, chunks_without_run, run_without_claim, run_stalled, " +
        "file_missing, object_missing",
      "embeddings_incomplete",
    ),
    message: field.text("The same for people", "The published version has 11 embeddings for 12 chunks."),
    pipeline_run_id: RunId.nullable().describe("The run it was found at; null: the document itself"),
  })
  .meta({ id: "IntegrityFinding" });

export const DocumentIntegrity = z
  .object({
    document_id: DocumentId,
    ok: field.flag("True if nothing was found", true),
    checked_at: Timestamp,
    findings: z.array(IntegrityFinding).meta({ description: "What is wrong; empty if `ok`", example: [] }),
  })
  .meta({ id: "DocumentIntegrity" });
