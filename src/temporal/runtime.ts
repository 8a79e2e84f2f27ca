/** The only place that sets up Temporal's core in this process. */
import { createServer } from "node:net";
import { Runtime } from "@temporalio/worker";
import type { Log } from "../process/log.ts";
import { sdkLogger } from "./sdk-log.ts";

/** Reads the page of the core's own metrics: workers, their slots, tasks and calls of the server. */
export type CoreMetrics = () => Promise<string>;

const READ_TIMEOUT_MS = 2_000;
const LOOPBACK = "127.0.0.1";

/**
 * Before the first worker. Signals stay with the process itself, which drains in its own order. The core
 * serves its metrics itself, on a free port of loopback.
 * @param log takes what the SDK and its core say from `level` on.
 */
export async function installRuntime(
  log: Log,
  level: "WARN" | "ERROR",
  hasMetrics: boolean,
): Promise<CoreMetrics> {
  const logging = { forward: {}, filter: { core: level, other: "ERROR" } } as const;
  const options = { logger: sdkLogger(log, level), shutdownSignals: [] };
  if (!hasMetrics) {
    Runtime.install({ ...options, telemetryOptions: { logging } });
    return async () => "";
  }
  const bindAddress = `${LOOPBACK}:${await freePort()}`;
  Runtime.install({
    ...options,
    telemetryOptions: {
      logging,
      metrics: {
        prometheus: {
          bindAddress,
          countersTotalSuffix: true,
          unitSuffix: true,
          useSecondsForDurations: true,
        },
      },
    },
  });
  return async () => {
    const response = await fetch(`http://${bindAddress}/metrics`, {
      signal: AbortSignal.timeout(READ_TIMEOUT_MS),
    });
    return response.text();
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(0, LOOPBACK, resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("a TCP server has no port");
  return address.port;
}
