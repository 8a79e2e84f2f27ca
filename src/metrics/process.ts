/** Gauges of what a process holds: database connections and, in the API, chat turns. */
import type { Database } from "../db/pool.ts";
import { starvedShare } from "../process/standstill.ts";
import type { Metrics, Sample } from "../telemetry/metrics.ts";

const STARVED_WINDOW_MS = 60_000;

export interface OpenTurnCounts {
  /** `open`: all turns in memory; `ended`: those of them that were sent and not yet booked. */
  counts(): { open: number; ended: number };
}

/** Streams of events, and requests that wait for one. */
export interface EventSeatCounts {
  counts(): { readonly stream: number; readonly wait: number };
}

export function measureEventStreams(metrics: Metrics, seats: EventSeatCounts): void {
  metrics.gauge({
    name: "holdfast_event_streams",
    help: "Event streams and requests waiting for events, held by this process.",
    labels: ["kind"],
    read: () => Object.entries(seats.counts()).map(([kind, value]) => ({ labels: { kind }, value })),
  });
}

/** Files and pages that requests wait for or that are being made. */
export interface FileSeatCounts {
  counts(): Readonly<Record<"page" | "input_file", number>>;
}

export function measureFileSeats(metrics: Metrics, seats: FileSeatCounts): void {
  metrics.gauge({
    name: "holdfast_file_seats",
    help: "Pages and files of requests that are waiting or being read in this process.",
    labels: ["kind"],
    read: () => Object.entries(seats.counts()).map(([kind, value]) => ({ labels: { kind }, value })),
  });
}

export function measureProcess(metrics: Metrics, db: Database, chat: OpenTurnCounts | undefined): void {
  metrics.gauge({
    name: "holdfast_pool_connections",
    help: "Database connections of this process, by pool: in use, idle, and the maximum.",
    labels: ["pool", "state"],
    read: () =>
      [...db.pools].flatMap(([pool, { totalCount, idleCount, options }]): Sample[] => [
        { labels: { pool, state: "used" }, value: totalCount - idleCount },
        { labels: { pool, state: "idle" }, value: idleCount },
        { labels: { pool, state: "most" }, value: options.max },
      ]),
  });
  metrics.gauge({
    name: "holdfast_pool_waiting",
    help: "Callers waiting for a database connection.",
    labels: ["pool"],
    read: () => [...db.pools].map(([pool, { waitingCount }]) => ({ labels: { pool }, value: waitingCount })),
  });
  metrics.gauge({
    name: "holdfast_starved_ratio",
    help: "Share of the last minute in which this process was waiting for CPU time.",
    labels: [],
    read: () => [{ labels: {}, value: starvedShare(STARVED_WINDOW_MS) }],
  });
  if (chat === undefined) return;
  metrics.gauge({
    name: "holdfast_chat_turns_open",
    help: "Open chat turns of this process: those still answering, and those still being recorded.",
    labels: ["state"],
    read() {
      const { open, ended } = chat.counts();
      return [
        { labels: { state: "answering" }, value: open - ended },
        { labels: { state: "closing" }, value: ended },
      ];
    },
  });
}
