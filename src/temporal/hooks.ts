/** The interceptors of all our clients and workers: seals, then traces, both inside the log of failures. */
import type { ClientInterceptors } from "@temporalio/client";
import type { ActivityInterceptorsFactory, InjectedSinks } from "@temporalio/worker";
import type { SealSinks } from "../domain/payloads/seal-sinks.ts";
import type { TraceSinks } from "../domain/tracing/sinks.ts";
import type { Log } from "../process/log.ts";
import { reportingFailures } from "./failures.ts";
import { type ReportRefused, clientSealing, workerSealing } from "./seals/interceptors.ts";
import { clientTracing, workerTracing } from "./tracing.ts";

export const clientHooks = {
  workflow: [...clientSealing.workflow, ...clientTracing.workflow],
} satisfies ClientInterceptors;

export interface WorkerHooks {
  readonly interceptors: { readonly activity: ActivityInterceptorsFactory[] };
  readonly sinks: InjectedSinks<SealSinks & TraceSinks>;
}

/** @param log gets a line for each refused payload and for each failure of an activity. */
export function createWorkerHooks(log: Log): WorkerHooks {
  const report: ReportRefused = (refused) => log.warn(refused, "refused payload");
  const sealing = workerSealing(report);
  return {
    interceptors: {
      activity: [
        reportingFailures(log),
        ...sealing.interceptors.activity,
        ...workerTracing.interceptors.activity,
      ],
    },
    sinks: { ...sealing.sinks, ...workerTracing.sinks },
  };
}
