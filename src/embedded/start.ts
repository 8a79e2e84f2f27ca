/**
 * `npm start`: everything on one machine, with an embedded part wherever no real one is configured. With `--dev`, as `npm run dev`
 * calls it, the API and the worker start again with each edit of `src/`.
 */
import { join } from "node:path";
import { type Config, ConfigError, loadConfig, unknownSettings } from "../config/config.ts";
import { localAddress } from "../config/local-address.ts";
import { EMPTY_INSTANCE } from "../domain/tenancy/empty-instance.ts";
import { describeFailure } from "../domain/expected-failure.ts";
import { HOPELESS_EXIT, aborted } from "../process/stop.ts";
import { announceApi } from "./api-address.ts";
import { banner } from "./banner.ts";
import { childEnvironment, programEnvironment } from "./processes/child-environment.ts";
import { DEMO_FILE, ingestDemoDocuments, readDemoState, writeDemoState } from "./demo-ingest.ts";
import { PROJECT_ROOT, programPart, runProgram } from "./processes/node-process.ts";
import { assertPortsFree, freePort } from "./ports.ts";
import { startGuardian } from "./processes/guardian.ts";
import { watchStarter } from "./processes/starter.ts";
import {
  type ProcessRecord,
  claimDataDir,
  openProcessRecord,
  stopLeftovers,
} from "./processes/process-record.ts";
import { demoKey, loginPasswords, masterKey } from "./secret-file.ts";
import { loginUrls } from "./servers/database-urls.ts";
import { restartOnEdits } from "./processes/restart-on-edit.ts";
import { chooseCacheDir, makeDataDir, serverUser } from "./servers/server-user.ts";
import { type Servers, planServers } from "./servers/choose.ts";
import { HopelessStartError, StartError, messageOf } from "./start-error.ts";
import { type Part, type Supervisor, supervise } from "./processes/supervise.ts";
import { watchSources } from "./processes/watch-sources.ts";

/** Above the 60 seconds after which the process ends itself: DRAIN_DELAY_SECONDS, then 20 for requests and 25 for chat turns fit into them. */
const API_STOP_GRACE_MS = 62_000;
const WORKER_STOP_GRACE_MS = 30_000;
/** In development a restart waits for the API, whose port the next one needs; what is killed goes on later, as after any crash. */
const DEV_API_GRACE_MS = 300;
/** The next worker starts beside the one that ends. */
const DEV_WORKER_GRACE_MS = 2_000;
const SOURCES = join(PROJECT_ROOT, "src");
const isDev = process.argv.includes("--dev");
/** npm passes a Ctrl-C on that the terminal has sent to this process too: two signals at once are one. */
const SAME_SIGNAL_MS = 1_000;

interface Session {
  readonly config: Config;
  readonly supervisor: Supervisor;
  readonly cacheDir: string;
  readonly stop: AbortSignal;
  /** What the user set, for programs of ours. */
  readonly inherited: NodeJS.ProcessEnv;
}

function progress(line: string): void {
  process.stderr.write(`${line}\n`);
}

async function main(): Promise<void> {
  const startedAt = Date.now();
  const config = loadConfig();
  unknownSettings().forEach(progress);
  const user = config.database.url === undefined ? await serverUser() : undefined;
  await makeDataDir(config.dataDir, user);
  const lock = await claimDataDir(config.dataDir);
  await stopLeftovers(config.dataDir, progress);
  const record = await openProcessRecord(config.dataDir);
  const guardian = await startGuardian(config.dataDir, record);
  const stop = new AbortController();
  const supervisor = supervise({
    onProgress: progress,
    onLaunch: (running) => record.add(running),
    onGiveUp(why, name, isHopeless) {
      const known = `${why}. Its log is in ${config.dataDir}/logs.`;
      if (isDev && (name === "api" || name === "worker"))
        progress(`${known} It starts again with the next edit.`);
      else stop.abort(isHopeless ? new HopelessStartError(known) : new StartError(known));
    },
  });
  listenForSignals(stop, supervisor);
  watchStarter((name) => {
    progress(`${name} is gone: stopping …`);
    stop.abort();
  });
  const stopped = aborted(stop.signal);
  try {
    const cacheDir = await chooseCacheDir({ configured: config.cacheDir, dataDir: config.dataDir, user });
    // A signal ends the start in whatever it waits for.
    const text = await Promise.race([
      bringUp(
        { config, supervisor, cacheDir, stop: stop.signal, inherited: inheritedEnvironment(config.dataDir) },
        startedAt,
      ),
      stopped,
    ]);
    if (typeof text === "string") process.stdout.write(text);
    await stopped;
    throwIfFailed(stop.signal);
  } finally {
    stop.abort();
    await shutDown(supervisor, record);
    guardian.release();
    await lock.release();
  }
}

async function bringUp(session: Session, startedAt: number): Promise<string> {
  const { config, supervisor, cacheDir, stop, inherited } = session;
  const { dataDir } = config;
  const port = config.api.port === 0 ? await freePort() : config.api.port;
  // A process whose metrics port is taken serves on without metrics; here, where the port would be printed, somebody can still choose another.
  const wanted = [
    ["PORT", port],
    ["METRICS_PORT", config.metrics.port],
    ["WORKER_METRICS_PORT", config.metrics.workerPort],
  ] as const;
  await assertPortsFree(wanted, config.api.host);
  progress("starting …");
  const servers = await planServers(config, inherited, {
    dataDir,
    cacheDir,
    onProgress: progress,
    signal: stop,
  });
  // Added in this order, because they are stopped in the reverse one; what they do not need of each other goes side by side.
  const postgres = servers.postgres.part && supervisor.add(servers.postgres.part);
  const temporal = servers.temporal.part && supervisor.add(servers.temporal.part);
  const issuer = servers.issuer?.part && supervisor.add(servers.issuer.part);
  const startPrograms = async (): Promise<string | undefined> => {
    const env = await environmentOf(session, servers, { ownerUrl: (await postgres)?.url, port });
    // Logins of a server that is ours are made at every start: the data folder may be older than they are. Whoever has the folder of the database
    // has all of it: no process of an older version serves beside these.
    const migrate = (): Promise<string> =>
      runProgram(
        ["cli/main.ts", "migrate", ...(postgres === undefined ? [] : ["--create-logins", "--alone"])],
        env,
        stop,
      );
    await migrate();
    const demo = await provision(session, programEnvironment(env, "provision"));
    if (demo === undefined) await sayIfEmpty(programEnvironment(env, "provision"), stop);
    stop.throwIfAborted();
    progress("starting the worker and the API …");
    // Watched from before the first start: an edit that comes while it lasts is not missed.
    const edits = isDev ? watchSources(SOURCES, stop) : undefined;
    const programs = programParts(session, env, port);
    await Promise.all([supervisor.add(after(temporal, programs.worker, stop)), supervisor.add(programs.api)]);
    const prepare = (): void => [programs.worker, programs.api].forEach((program) => program.prepare());
    if (edits) void restartOnEdits(edits, { supervisor, migrate, prepare, onProgress: progress, stop });
    return demo;
  };
  const [demo] = await Promise.all([
    startPrograms(),
    temporal,
    issuer,
    runProgram(["worker/bundle-main.ts"], inherited, stop),
  ]);
  const address = localAddress(config.api.host, port);
  await announceApi(dataDir, config.api.port === port ? config.api.publicUrl : address);
  if (demo !== undefined) await ingestOnce(session, address, demo);
  return banner({
    address,
    temporalUi: servers.temporalUi,
    demoKey: demo,
    hasIssuer: issuer !== undefined,
    dataDir,
    metrics: metricsAddresses(config),
    hasChatModel: config.models.chatModel !== undefined,
    seconds: (Date.now() - startedAt) / 1_000,
  });
}

function metricsAddresses({ api, metrics }: Config): string[] {
  return [metrics.port, metrics.workerPort].flatMap((port) =>
    port === undefined ? [] : [`${localAddress(api.host, port)}/metrics`],
  );
}

function programParts({ config }: Session, env: NodeJS.ProcessEnv, port: number) {
  const { dataDir } = config;
  const healthUrl = `${localAddress(config.api.host, port)}/health`;
  const shared = { dataDir, saysWhenReady: isDev };
  // The API has METRICS_PORT itself.
  const workerMetrics =
    config.metrics.workerPort === undefined ? {} : { METRICS_PORT: String(config.metrics.workerPort) };
  const [workerGraceMs, apiGraceMs] = isDev
    ? [DEV_WORKER_GRACE_MS, DEV_API_GRACE_MS]
    : [WORKER_STOP_GRACE_MS, API_STOP_GRACE_MS];
  return {
    worker: programPart("worker", {
      ...shared,
      env: { ...programEnvironment(env, "worker"), ...workerMetrics },
      stopGraceMs: workerGraceMs,
      mayOverlap: true,
    }),
    api: programPart("api", {
      ...shared,
      env: programEnvironment(env, "api"),
      stopGraceMs: apiGraceMs,
      healthUrl,
    }),
  };
}

/** @param ownerUrl of the Postgres that runs here, where one does. */
async function environmentOf(
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
    masterKey:
      config.keys.kmsKeyName === undefined
        ? (config.keys.master?.toString("base64") ?? (await masterKey(config.dataDir)))
        : undefined,
    port,
  });
}

/** The part, started once `ready` has resolved; a stop ends the wait. */
function after(ready: Promise<unknown> | undefined, part: Part, stop: AbortSignal): Part {
  return {
    ...part,
    async start(onLaunch) {
      await Promise.race([ready, aborted(stop)]);
      stop.throwIfAborted();
      return part.start(onLaunch);
    },
  };
}

/** Applies the user's file at every start, or the demo once. Returns the demo's key where the demo is in use. */
async function provision({ config, stop }: Session, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  if (config.provisionFile !== undefined) {
    const printed = await runProgram(["cli/main.ts", "provision", config.provisionFile], env, stop);
    if (printed !== "") progress(printed);
    return undefined;
  }
  // A demo key has no place in an installation that serves others.
  if (config.environment === "production") return undefined;
  const key = await demoKey(config.dataDir);
  const state = await readDemoState(config.dataDir);
  if (state.isProvisioned) return key;
  progress("making the demo organization …");
  await runProgram(["cli/main.ts", "provision", DEMO_FILE], { ...env, DEMO_API_KEY: key }, stop);
  await writeDemoState(config.dataDir, { ...state, isProvisioned: true });
  return key;
}

async function sayIfEmpty(env: NodeJS.ProcessEnv, stop: AbortSignal): Promise<void> {
  const listed = await runProgram(["cli/main.ts", "organization", "list", "--json"], env, stop);
  if (listed === "[]") progress(EMPTY_INSTANCE);
}

async function ingestOnce({ config, stop }: Session, address: string, key: string): Promise<void> {
  const state = await readDemoState(config.dataDir);
  if (state.isComplete) return;
  progress("taking in the demo documents …");
  try {
    await ingestDemoDocuments({
      address,
      key,
      dataDir: config.dataDir,
      state,
      signal: stop,
      onProgress: progress,
    });
  } catch (error) {
    progress(`the demo documents could not be taken in (${messageOf(error)}); the next start tries again`);
  }
}

function listenForSignals(stop: AbortController, supervisor: Supervisor): void {
  let firstAt: number | undefined;
  const onSignal = (signal: NodeJS.Signals): void => {
    if (firstAt === undefined) {
      firstAt = Date.now();
      progress(`${signal}: stopping … (again to force)`);
      stop.abort();
    } else if (Date.now() - firstAt > SAME_SIGNAL_MS) {
      supervisor.killAll();
      process.exit(1);
    }
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, onSignal);
  // A reader of our output that goes away, e.g. `npm start | head`, must not end the supervisor in disorder.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);
}

async function shutDown(supervisor: Supervisor, record: ProcessRecord): Promise<void> {
  await supervisor.stopAll();
  await record.clear();
}

function throwIfFailed(signal: AbortSignal): void {
  if (signal.reason instanceof StartError) throw signal.reason;
}

/** Compiled code is kept beside the data: programs start in less time from the second start on. */
function inheritedEnvironment(dataDir: string): NodeJS.ProcessEnv {
  // oxlint-disable-next-line node/no-process-env -- children inherit it; nothing is read from it here
  return { NODE_COMPILE_CACHE: join(dataDir, "cache", "compiled"), ...process.env };
}

try {
  await main();
  progress("stopped");
  // What was still being started when the stop came may hold the process open.
  process.exit(0);
} catch (error) {
  progress(
    describeFailure(error) ??
      `Holdfast could not start: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
  );
  process.exit(error instanceof ConfigError || error instanceof HopelessStartError ? HOPELESS_EXIT : 1);
}
