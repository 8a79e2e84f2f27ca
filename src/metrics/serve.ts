/** The only place that begins and ends the metrics of a process: nothing where no port is set. */
import type { Client } from "@temporalio/client";
import type { Database } from "../db/pool.ts";
import { describeFailure } from "../domain/expected-failure.ts";
import type { Log } from "../process/log.ts";
import type { DiskSpace } from "../storage/disk-space.ts";
import { measureDisk } from "./disk.ts";
import { measureDurability } from "./durability.ts";
import { type ServedMetrics, createMetrics } from "../telemetry/metrics.ts";
import { type OpenTurnCounts, measureProcess } from "./process.ts";
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
  /** Where the process runs chat turns. */
  readonly chat?: OpenTurnCounts;
  /** Where the process has parsers. */
  readonly sandbox?: Promise<ParserLayers>;
  /** The page of Temporal's core. */
  readonly coreMetrics: () => Promise<string>;
}

const COUNT_EVERY_MS = 10 * 60_000;

/** A port that is in use costs the metrics and not the process. @returns what ends them. */
export async function serveMetrics({
  config,
  log,
  db,
  temporal,
  disk,
  chat,
  sandbox,
  coreMetrics,
}: MetricsDeps): Promise<() => Promise<void>> {
  const { port } = config.metrics;
  if (port === undefined) return () => Promise.resolve();
  const warn = (error: unknown): void => log.warn({ err: error }, "a metric could not be read");
  const metrics = createMetrics(warn, () => coreMetrics().catch((error: unknown) => (warn(error), "")));
  measureProcess(metrics, db, chat);
  measureDisk(metrics, disk);
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
  let counting = countOrphans().catch(warn);
  const timer = setInterval(() => void (counting = counting.then(countOrphans).catch(warn)), COUNT_EVERY_MS);
  return async () => {
    clearInterval(timer);
    await served.close();
    await counting;
  };
}
