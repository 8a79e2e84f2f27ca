/** The contract of what the service depends on, and of the processes that run it. For operators. */
import { z } from "zod";
import { field } from "../field.ts";
import { Timestamp, Uuid } from "../fields.ts";

const version = z.string().nullable();
const Identity = field.text("Process and machine, as Temporal knows them", "4711@worker-1");

const Dependency = z
  .object({
    name: z
      .enum(["database", "workflows", "object_store", "disk", "issuer", "chat", "embeddings", "reranker"])
      .meta({
        description:
          "`workflows` is Temporal, `issuer` the identity provider, and the last three are the models",
        example: "database",
      }),
    kind: field.nullableText(
      "Of `object_store` `directory`, `gcs` or `s3`; of a model `built_in` or `provider`; null for the others",
      null,
    ),
    ok: z
      .boolean()
      .nullable()
      .meta({
        description:
          "Whether it answers. A provider of models is not asked for this, since that may cost: its state is " +
          "that of the last calls of the pipeline, and null where there is none",
        example: true,
      }),
    version: version.meta({ description: "The version that it says it has; null if none", example: "18.1" }),
    latency_ms: z.number().min(0).nullable().meta({
      description: "Milliseconds until it answered, or was given up; null if it was not asked",
      example: 0.8,
    }),
    failing_since: Timestamp.nullable().meta({
      description:
        "Since when it fails. Of a provider: since when documents wait for it. Of all else: since this " +
        "process first found it failing; it looks when it is asked here. Null while it answers",
      example: null,
    }),
    code: field.nullableText("Of a provider that fails: the code of the error that documents wait for", null),
    next_attempt_at: Timestamp.nullable().meta({
      description: "Of a provider that fails: when it is asked again",
      example: null,
    }),
  })
  .meta({ id: "Dependency" });
export type Dependency = z.input<typeof Dependency>;

export const Dependencies = z
  .object({
    checked_at: Timestamp.describe("When this process looked, at most two seconds ago"),
    dependencies: z.array(Dependency).describe("Each of them; what is not configured is left out"),
  })
  .meta({ id: "Dependencies" });

const ProcessState = z
  .object({
    id: Uuid.nullable().describe(
      "Its id; null if the process does not register, as in versions before 0.10.0",
    ),
    kind: z.enum(["api", "worker"]).nullable().meta({
      description: "What the process is; null if it does not register",
      example: "worker",
    }),
    version: version.meta({ description: "The version that it runs; null if unknown", example: "0.11.0" }),
    identity: Identity,
    queues: z
      .array(z.string())
      .meta({ description: "The task queues that it polls", example: ["parse", "embed"] }),
    started_at: Timestamp.nullable().describe("When it was up; null if unknown"),
    renewed_at: Timestamp.nullable().describe(
      "When it last said that it runs, which it does every ten seconds; null if it never does",
    ),
    is_alive: field.flag(
      "False if it has not said so for 35 seconds: it was killed, or cannot reach the database. Such ones " +
        "are listed for an hour",
      true,
    ),
  })
  .meta({ id: "ServiceProcess" });

export const Processes = z
  .object({
    workflows_reachable: field.flag(
      "False if Temporal could not be asked who polls: processes of before may be missing",
      true,
    ),
    processes: z.array(ProcessState).describe("At most 1,000 processes, those that run first"),
    turn_leases: z
      .array(
        z
          .object({
            api_process_id: Uuid.describe("The id that turns of chat know their process by"),
            renewed_at: Timestamp.describe("When the lease was renewed, which is each second"),
            open_turns: field.integer("Turns that end as lost if it runs out", 0),
          })
          .meta({ id: "TurnLease" }),
      )
      .describe("At most 500 leases by which API processes hold the turns of chat that they run"),
  })
  .meta({ id: "Processes" });
