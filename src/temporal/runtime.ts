/** Sets up Temporal's native core in this process. */
import { createServer } from "node:net";
import { Runtime } from "@temporalio/worker";
import type { Log } from "../process/log.ts";
import { sdkLogger } from "./sdk-log.ts";

/** Reads the metrics page of the core: workers, their slots, tasks, and calls of the server. */
export type CoreMetrics = () => Promise<string>;

const READ_TIMEOUT_MS = 2_000;
const LOOPBACK = "127.0.0.1";

/**
 * Call it before the first worker is made. The process handles signals itself, because it drains in its own
 * order. The core serves its metrics on a free port of loopback.
 * @param log gets the lines of the SDK and its core, from `level` on.
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
