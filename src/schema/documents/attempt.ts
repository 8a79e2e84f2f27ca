/** Contract of the attempts of a run. */
import { z } from "zod";
import { ATTEMPT_OUTCOMES } from "../../domain/work/processing.ts";
import { envelope, Timestamp } from "../fields.ts";

const Attempt = z
  .object({
    attempt: z.int().meta({ description: "Its number within the run, from 1", example: 1 }),
    step: z.enum(["prepare", "embed"]).meta({
      description: "`prepare` parses and chunks, `embed` computes vectors and publishes",
      example: "prepare",
    }),
    started_at: Timestamp,
    ended_at: Timestamp.nullable().meta({ description: "Null while it is under way" }),
    outcome: z.enum(ATTEMPT_OUTCOMES).meta({
      description:
        "`running`; `done`: the step is done; `waiting` for an outage to end; `failed`; `lost` with its " +
        "process; `released`: paused, continues later; `superseded` by another attempt or " +
        "a cancellation",
      example: "done",
    }),
    code: z.string().nullable().meta({ description: "What it waits for, or why it failed", example: null }),
    workflow_id: z.string().nullable().meta({
      description: "Its workflow in Temporal, for operators; null: not known",
      example: null,
    }),
  })
  .meta({ id: "Attempt" });

export const AttemptPage = envelope(Attempt, "AttemptPage");
