/** Starts and stops the metrics of a process; does nothing if no port is set. */
import type { Client } from "@temporalio/client";
import type { Database } from "../db/pool.ts";
import { describeFailure } from "../domain/expected-failure.ts";
import { every } from "../process/concurrency/rounds.ts";
import type { Log } from "../process/log.ts";
import type { DiskSpace } from "../storage/disk-space.ts";
import { measureDisk } from "./disk.ts";
import { measureDurability } from "./durability.ts";
import { measureEvents } from "./events.ts";
import { type ServedMetrics, createMetrics } from "../telemetry/metrics.ts";
import {
  type EventSeatCounts,
  type FileSeatCounts,
  type OpenTurnCounts,
  measureEventStreams,
  measureFileSeats,
  measureProcess,
} from "./process.ts";
import { type ParserLayers, measureSandbox } from "./sandbox.ts";

interface MetricsDeps {
  readonly config: {
    readonly metrics: { readonly port: number | undefined };
    readonly api: { readonly host: string };
    readonly temporal: { readonly namespace: string };
  };
  readonly log: Log;
  readonly db: Database;
  readonly temporal: Client;
  readonly disk: DiskSpace;
  /** Only in a process that runs chat turns. */
  readonly chat?: OpenTurnCounts;
  /** Only in a process that serves events. */
  readonly events?: { readonly seats: EventSeatCounts };
  /** Only in a process that reads files for requests. */
  readonly fileSeats?: FileSeatCounts;
  /** Only in a process that has parsers. */
  readonly sandbox?: Promise<ParserLayers>;
  /** The metrics page of Temporal's native core. */
  readonly coreMetrics: () => Promise<string>;
}

const COUNT_EVERY_MS = 10 * 60_000;

/** If the port is in use, logs that and goes on without metrics. @returns a function that stops serving. */
export async function serveMetrics({
  config,
  log,
  db,
  temporal,
  disk,
  chat,
  events,
  fileSeats,
  sandbox,
  coreMetrics,
}: MetricsDeps): Promise<() => Promise<void>> {
  const { port } = config.metrics;
  if (port === undefined) return () => Promise.resolve();
  const warn = (error: unknown): void => log.warn({ err: error }, "a metric could not be read");
  const corePage = async (): Promise<string> => {
    try {
      return await coreMetrics();
    } catch (error) {
      warn(error);
      return "";
    }
  };
  const metrics = createMetrics(warn, corePage);
  measureProcess(metrics, db, chat);
  measureEvents(metrics, db);
  measureDisk(metrics, disk);
  if (events !== undefined) measureEventStreams(metrics, events.seats);
  if (fileSeats !== undefined) measureFileSeats(metrics, fileSeats);
  if (sandbox !== undefined) measureSandbox(metrics, sandbox);
  const countOrphans = measureDurability(metrics, { db, temporal, namespace: config.temporal.namespace });
  let served: ServedMetrics;
  try {
    served = await metrics.serve(port, config.api.host);
  } catch (error) {
    const reason = describeFailure(error);
    log.error(reason === undefined ? { err: error, port } : { reason, port }, "metrics cannot be served");
    return () => Promise.resolve();
  }
  const counts = every(COUNT_EVERY_MS, countOrphans, warn);
  return async () => {
    await served.close();
    await counts.stop();
  };
}
