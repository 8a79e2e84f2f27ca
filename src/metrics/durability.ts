/** Gauges of work that is stuck or lost: queues, waiting runs, orphans; and the bytes of kept responses. */
import type { Client } from "@temporalio/client";
import { countOrphans } from "../integrity/orphan-counts.ts";
import { countWaitingTurns } from "../db/turns/adoption.ts";
import { countResponseBytes } from "../db/upkeep/retention.ts";
import type { Database } from "../db/pool.ts";
import { readQueue } from "../db/runs/queue-state.ts";
import { readBacklog } from "../temporal/facts/backlog.ts";
import type { Metrics, Sample } from "../telemetry/metrics.ts";

interface DurabilityDeps {
  readonly db: Database;
  readonly temporal: Client;
  readonly namespace: string;
}

/**
 * Registers the gauges.
 * @returns a function that counts orphans. It reads much, so it runs every few minutes and a scrape shows
 * what it last found.
 * @see test/metrics/metrics.own-stack.test.ts
 */
export function measureDurability(
  metrics: Metrics,
  { db, temporal, namespace }: DurabilityDeps,
): () => Promise<void> {
  let orphans: readonly Sample[] = [];
  const backlog =
    (value: (one: Awaited<ReturnType<typeof readBacklog>>[number]) => number) =>
    async (): Promise<Sample[]> =>
      (await readBacklog(temporal, namespace)).map((one) => ({
        labels: { queue: one.queue, type: one.type },
        value: value(one),
      }));
  metrics.gauge({
    name: "holdfast_task_queue_backlog",
    help: "Tasks waiting in a Temporal task queue, as estimated by the server.",
    labels: ["queue", "type"],
    read: backlog((one) => one.count),
  });
  metrics.gauge({
    name: "holdfast_task_queue_backlog_age_seconds",
    help: "Age of the oldest task waiting in a Temporal task queue.",
    labels: ["queue", "type"],
    read: backlog((one) => one.ageSeconds),
  });
  const queue = (value: "runs" | "oldest_seconds") => async (): Promise<Sample[]> =>
    (await readQueue(db.system)).map((one) => ({ labels: { state: one.state }, value: one[value] }));
  metrics.gauge({
    name: "holdfast_runs",
    help: "Pipeline runs that have not ended, by state: queued, at work, or what they wait for.",
    labels: ["state"],
    read: queue("runs"),
  });
  metrics.gauge({
    name: "holdfast_oldest_run_seconds",
    help: "Age of the oldest pipeline run that has not ended, by state.",
    labels: ["state"],
    read: queue("oldest_seconds"),
  });
  metrics.gauge({
    name: "holdfast_longest_wait_seconds",
    help:
      "Seconds since the first of the runs that wait for the same began to, " +
      "by the code of what they wait for.",
    labels: ["code"],
    read: async () =>
      (await readQueue(db.system)).flatMap((one) =>
        one.waiting_seconds === null ? [] : [{ labels: { code: one.state }, value: one.waiting_seconds }],
      ),
  });
  metrics.gauge({
    name: "holdfast_orphans",
    help: "Orphaned or incomplete items found by the last count; each must be 0.",
    labels: ["kind"],
    read: () => orphans,
  });
  measureStored(metrics, db);
  return async () => {
    const { counts } = await countOrphans(db);
    orphans = Object.entries(counts).map(([kind, value]) => ({ labels: { kind }, value }));
  };
}

/** Registers what is stored for callers or waits, counted in all organizations. */
function measureStored(metrics: Metrics, db: Database): void {
  metrics.gauge({
    name: "holdfast_response_bytes",
    help: "Encrypted bytes of stored responses, across all organizations.",
    labels: [],
    read: async () => [{ labels: {}, value: await countResponseBytes(db.system) }],
  });
  metrics.gauge({
    name: "holdfast_chat_turns_waiting",
    help:
      "Chat turns that ended while Temporal was down and wait in Postgres for a workflow, across " +
      "all processes.",
    labels: [],
    read: async () => [{ labels: {}, value: await countWaitingTurns(db) }],
  });
}
