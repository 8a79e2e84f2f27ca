/** The API and the worker of an embedded start, and the settings that they get. */
import { localAddress } from "../config/local-address.ts";
import { aborted } from "../process/stop.ts";
import { childEnvironment, programEnvironment } from "./processes/child-environment.ts";
import { programPart } from "./processes/node-process.ts";
import type { Part } from "./processes/supervise.ts";
import { loginPasswords, masterKey } from "./secret-file.ts";
import type { Servers } from "./servers/choose.ts";
import { CONSOLE_CLIENT } from "./servers/issuer-part.ts";
import { loginUrls } from "./servers/database-urls.ts";
import type { Session } from "./session.ts";

/** Longer than the 60 s after which the API ends itself: DRAIN_DELAY_SECONDS, 20 s, and 25 s for chat. */
const API_STOP_GRACE_MS = 62_000;
const WORKER_STOP_GRACE_MS = 30_000;
/** In development a restart waits for the API, whose port it needs. Killed work goes on as after a crash. */
const DEV_API_GRACE_MS = 300;
/** In development the next worker starts while the one before still ends. */
const DEV_WORKER_GRACE_MS = 2_000;

export function programParts({ config, isDev }: Session, env: NodeJS.ProcessEnv, port: number) {
  const { dataDir } = config;
  const healthUrl = `${localAddress(config.api.host, port)}/health`;
  const shared = { dataDir, saysWhenReady: isDev };
  // METRICS_PORT is the API's; the worker reads the same name.
  const workerMetrics =
    config.metrics.workerPort === undefined ? {} : { METRICS_PORT: String(config.metrics.workerPort) };
  return {
    worker: programPart("worker", {
      ...shared,
      env: { ...programEnvironment(env, "worker"), ...workerMetrics },
      stopGraceMs: isDev ? DEV_WORKER_GRACE_MS : WORKER_STOP_GRACE_MS,
      mayOverlap: true,
    }),
    api: programPart("api", {
      ...shared,
      env: programEnvironment(env, "api"),
      stopGraceMs: isDev ? DEV_API_GRACE_MS : API_STOP_GRACE_MS,
      healthUrl,
    }),
  };
}

/** The settings of all programs. @param ownerUrl of the embedded Postgres; undefined if the user has one. */
export async function environmentOf(
  { config, inherited }: Session,
  servers: Servers,
  { ownerUrl, port }: { ownerUrl: string | undefined; port: number },
): Promise<NodeJS.ProcessEnv> {
  const ours = ownerUrl === undefined ? undefined : loginUrls(ownerUrl, await loginPasswords(config.dataDir));
  return childEnvironment(inherited, config, {
    database:
      ours === undefined
        ? { url: servers.postgres.address ?? "" }
        : { url: ours.app, systemUrl: ours.system, maintenanceUrl: ours.maintenance, ownerUrl },
    isDatabaseEmbedded: servers.postgres.part !== undefined,
    temporalAddress: servers.temporal.address,
    isTemporalEmbedded: servers.temporal.part !== undefined,
    oidc: servers.issuer?.address,
    consoleClient: servers.issuer?.part === undefined ? undefined : CONSOLE_CLIENT,
    temporalUi: config.console.temporalUi ?? servers.temporalUi,
    masterKey:
      config.keys.kmsKeyName === undefined
        ? (config.keys.master?.toString("base64") ?? (await masterKey(config.dataDir)))
        : undefined,
    port,
  });
}

/** The part, but its start waits until `ready` has resolved. A stop ends the wait. */
export function startedAfter(ready: Promise<unknown> | undefined, part: Part, stop: AbortSignal): Part {
  return {
    ...part,
    async start(onLaunch) {
      await Promise.race([ready, aborted(stop)]);
      stop.throwIfAborted();
      return part.start(onLaunch);
    },
  };
}
