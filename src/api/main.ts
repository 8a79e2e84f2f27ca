/** The API process: serves the routes until it is told to stop, then drains. */
import { setTimeout } from "node:timers/promises";
import { loadConfig, requireReal } from "../config.ts";
import { openApiDeps } from "../deps.ts";
import { serveMetrics } from "../metrics/serve.ts";
import { reportReady } from "../process-ready.ts";
import { aborted, runProcess, watchSignals } from "../process-stop.ts";
import { startTracing } from "../telemetry/tracing.ts";
import { installRuntime } from "../temporal/runtime.ts";
import { createApp } from "./app.ts";
import { ROUTES } from "./routes/index.ts";
import { listen } from "./server.ts";

async function main(): Promise<void> {
  const stop = watchSignals();
  const config = requireReal(loadConfig());
  const coreMetrics = await installRuntime("ERROR", config.metrics.port !== undefined);
  const endTracing = startTracing(config.telemetry, "api");
  const deps = await openApiDeps(config);
  const server = await listen(createApp(deps, ROUTES), config.api);
  const closeMetrics = await serveMetrics({ ...deps, coreMetrics });
  stop.started();
  deps.log.info({ host: config.api.host, port: server.port }, "api is up");
  reportReady();
  await aborted(stop.signal);
  deps.log.info("api stops");
  deps.readiness.drain();
  await setTimeout(config.api.drainDelayMs);
  await server.close();
  await closeMetrics();
  await deps.close();
  await endTracing();
}

await runProcess("api", main);
// The provider's answer to a question that nobody waits for any more would hold the process open.
process.exit(0);
