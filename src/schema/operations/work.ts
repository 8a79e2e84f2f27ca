/** The contract of what is queued, waits, is under way or was left behind in the instance. For operators. */
import { z } from "zod";
import { field } from "../field.ts";
import { envelope, pageQuery, PARTS_PER_PAGE, Timestamp, Uuid } from "../fields.ts";

const count = (description: string, example = 0) => z.int().min(0).meta({ description, example });
/** Also of organizations that are gone. */
const organizationId = Uuid.nullable().describe(
  "The organization that it is about; null for the whole instance",
);

export const Queues = z
  .object({
    workflows_reachable: field.flag(
      "False if Temporal could not be asked: `task_queues` is empty then",
      true,
    ),
    task_queues: z
      .array(
        z
          .object({
            queue: field.text("The name of the task queue", "parse"),
            type: z.enum(["workflow", "activity"]).meta({
              description: "What its tasks are: steps of workflows, or activities",
              example: "activity",
            }),
            backlog: count("How many tasks wait for a worker, as Temporal estimates"),
            backlog_age_seconds: z
              .number()
              .min(0)
              .meta({ description: "For how long the oldest of them waits", example: 0 }),
            pollers: z.array(z.string()).meta({
              description:
                "The processes that polled the queue in the last 75 seconds, at most 100; " +
                "`isolated` is polled only while suspected documents wait",
              example: ["4711@worker-1"],
            }),
            poller_count: count("How many processes poll it", 1),
          })
          .meta({ id: "TaskQueue" }),
      )
      .describe("The task queues of Temporal"),
    outbox: z
      .array(
        z
          .object({
            kind: z.enum(["runs", "deletions", "batches", "operations", "webhooks", "events"]).meta({
              description:
                "`runs` of documents; `webhooks` that have deliveries to make; `events` without a position",
              example: "runs",
            }),
            waiting: count("Rows that no process has taken yet"),
            under_way: count("Rows that a workflow or a process has"),
            oldest_at: Timestamp.nullable().meta({
              description: "Since when the oldest of those that wait does; null if none does",
              example: null,
            }),
          })
          .meta({ id: "OutboxState" }),
      )
      .describe("What was asked for and committed, and is started from the database"),
  })
  .meta({ id: "Queues" });

export const WaitingQuery = pageQuery(PARTS_PER_PAGE);
const WaitingGroup = z
  .object({
    kind: z
      .enum(["run", "deletion", "batch", "operation", "webhook"])
      .meta({ description: "What waits", example: "run" }),
    organization_id: organizationId,
    code: field.text(
      "What it waits for: `queued` a worker, `held` its batch, `paused` whoever paused it, " +
        "`not_before` a moment, `receiver_fails` the receiver of a webhook, or the code of the " +
        "error that was met",
      "provider_rate_limited",
    ),
    count: count("How many of the organization wait for the same", 3),
    since: Timestamp.describe("Since when the first of them waits"),
    next_attempt_at: Timestamp.nullable().describe(
      "When the first of them is tried again; null if nothing is timed",
    ),
  })
  .meta({ id: "WaitingGroup" });
export const WaitingPage = envelope(WaitingGroup, "WaitingPage");

export const Orphans = z
  .object({
    counted_at: Timestamp.nullable().describe(
      "When the count ended. A worker counts every ten minutes, since it reads most of what " +
        "there is; null before the first count",
    ),
    organizations: count("How many organizations were looked at", 1),
    kinds: z
      .array(
        z
          .object({
            kind: field.text("As in `holdfast integrity`", "chunks_without_run"),
            count: count("How many there are; each should be 0"),
          })
          .meta({ id: "OrphanKind" }),
      )
      .describe("Each kind of orphaned or incomplete item"),
    found: z
      .array(
        z
          .object({
            organization_id: Uuid.describe("Whose it is"),
            kind: field.text("The kind of it", "chunks_without_run"),
            count: count("How many there are", 1),
          })
          .meta({ id: "OrphansOfOrganization" }),
      )
      .describe("At most 1,000 of those that are not 0, by organization"),
  })
  .meta({ id: "Orphans" });

export const LongRunningQuery = pageQuery(PARTS_PER_PAGE).extend({
  include_ended: z
    .enum(["true", "false"])
    .default("false")
    .transform((text) => text === "true")
    .meta({
      description: "`true` lists what has ended too; deletions and batches are kept for some days then",
      example: "false",
    }),
});
const LongRunning = z
  .object({
    id: Uuid.describe("Its id, as `holdfast operations show` takes it"),
    kind: field.text(
      "The kind of an operation, `delete_` with what is deleted, or `batch`",
      "reencrypt_organization",
    ),
    organization_id: organizationId,
    state: z.enum(["asked_for", "waits", "under_way", "paused", "completed", "failed"]).meta({
      description: "How far it is",
      example: "under_way",
    }),
    since: Timestamp.describe("When it was asked for"),
    not_before: Timestamp.nullable().describe("It does not begin before then"),
    completed_at: Timestamp.nullable().describe("When it ended; null if it has not"),
    waits_for: field.nullableText(
      "What it waits for, in words; null if somebody is at it, or it has ended",
      "a worker",
    ),
  })
  .meta({ id: "LongRunning" });
export const LongRunningPage = envelope(LongRunning, "LongRunningPage");
