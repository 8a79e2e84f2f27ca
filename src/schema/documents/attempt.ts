/** Contract of the attempts of a run. */
import { z } from "zod";
import { field } from "../field.ts";
import { ATTEMPT_OUTCOMES } from "../../domain/work/processing.ts";
import { envelope, Timestamp } from "../fields.ts";

const Attempt = z
  .object({
    attempt: field.integer("Its number within the run, from 1", 1),
    step: z.enum(["prepare", "embed"]).meta({
      description: "`prepare` parses and chunks, `embed` computes vectors and publishes",
      example: "prepare",
    }),
    started_at: Timestamp,
    ended_at: Timestamp.nullable().describe("Null while it is under way"),
    outcome: z.enum(ATTEMPT_OUTCOMES).meta({
      description:
        "`running`; `done`: the step is done; `waiting` for an outage to end; `failed`; `lost` with its " +
        "process; `released`: paused, continues later; `superseded` by another attempt or " +
        "a cancellation",
      example: "done",
    }),
    code: field.nullableText("What it waits for, or why it failed", null),
    workflow_id: field.nullableText("Its workflow in Temporal, for operators; null: not known", null),
  })
  .meta({ id: "Attempt" });

export const AttemptPage = envelope(Attempt, "AttemptPage");
