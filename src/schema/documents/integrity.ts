/** Contract of what an integrity check found. */
import { z } from "zod";
import { Timestamp, Uuid } from "../fields.ts";

const IntegrityFinding = z
  .object({
    code: z.string().meta({
      description:
        "published_run_missing, chunks_incomplete, embeddings_incomplete, index_incomplete, " +
        "published_hidden, entries_not_served, chunks_without_run, run_without_claim, run_stalled, " +
        "file_missing, object_missing",
      example: "embeddings_incomplete",
    }),
    message: z.string().meta({ example: "The published version has 11 embeddings for 12 chunks." }),
    pipeline_run_id: Uuid.nullable(),
  })
  .meta({ id: "IntegrityFinding" });

export const DocumentIntegrity = z
  .object({
    document_id: Uuid,
    ok: z.boolean().meta({ description: "True where nothing was found" }),
    checked_at: Timestamp,
    findings: z.array(IntegrityFinding).meta({ example: [] }),
  })
  .meta({ id: "DocumentIntegrity" });
