/** The API process: serves the routes until a signal stops it, then drains. */
import { setTimeout } from "node:timers/promises";
import { announceProcess } from "../db/instance/processes.ts";
import { errorGuide } from "./errors/error-body.ts";
import { loadConfig, requireReal } from "../config/config.ts";
import { hasNoOrganization } from "../db/tenancy/new-organization.ts";
import { type Deps, openApiDeps } from "./deps.ts";
import { EMPTY_INSTANCE } from "../domain/tenancy/empty-instance.ts";
import { newId } from "../domain/ids.ts";
import { createLog } from "../process/log.ts";
import { serveMetrics } from "../metrics/serve.ts";
import { reportReady } from "../process/ready.ts";
import { watchStandstill } from "../process/standstill.ts";
import { type ProcessStop, aborted, closingOnFailure, runProcess, watchSignals } from "../process/stop.ts";
import { serviceVersion } from "../process/version.ts";
import { startTracing } from "../telemetry/tracing.ts";
import { type CoreMetrics, installRuntime } from "../temporal/runtime.ts";
import { processIdentity } from "../temporal/seals/identity.ts";
import { createApp } from "./app.ts";
import { ROUTES } from "./routes/index.ts";
import { listen } from "./server.ts";

async function main(): Promise<void> {
  watchStandstill();
  const stop = watchSignals();
  const config = requireReal(loadConfig());
  const coreMetrics = await installRuntime(
    createLog({ level: config.log.level, name: "api" }),
    "ERROR",
    config.metrics.port !== undefined,
  );
  const endTracing = startTracing(config.telemetry, "api");
  const deps = await openApiDeps(config);
  await closingOnFailure(deps, () => serve(deps, stop, coreMetrics));
  await endTracing();
}

async function serve(deps: Deps, stop: ProcessStop, coreMetrics: CoreMetrics): Promise<void> {
  const { config } = deps;
  const server = await listen(createApp(deps, ROUTES), {
    ...config.api,
    guide: errorGuide(config.api.publicUrl),
  });
  const closeMetrics = await serveMetrics({ ...deps, coreMetrics });
  const leave = announceProcess(
    deps.db,
    { id: newId(), kind: "api", version: await serviceVersion(), identity: processIdentity(), queues: [] },
    (error) => deps.log.warn({ err: error }, "the liveness of this process could not be recorded"),
  );
  stop.started();
  deps.log.info({ host: config.api.host, port: server.port }, "api is up");
  await warnIfEmpty(deps);
  reportReady();
  await aborted(stop.signal);
  deps.log.info("api stops");
  deps.readiness.drain();
  await setTimeout(config.api.drainDelayMs);
  deps.events.hub.drain();
  deps.states.drain();
  await server.close();
  await closeMetrics();
  await leave();
  await deps.close();
}

async function warnIfEmpty({ db, log }: Deps): Promise<void> {
  try {
    if (await hasNoOrganization(db)) log.warn(EMPTY_INSTANCE);
  } catch (error) {
    log.warn({ err: error }, "could not check whether an organization exists");
  }
}

await runProcess("api", main);
// An open request to the model provider, whose answer nobody awaits, would keep the process alive.
process.exit(0);
