/** `npm start`: everything on one machine, with an embedded part wherever no real one is configured. */
import { type Config, ConfigError, loadConfig, localAddress } from "../config.ts";
import { banner } from "./banner.ts";
import { childEnvironment } from "./child-environment.ts";
import { DEMO_FILE, ingestDemoDocuments, readDemoState, writeDemoState } from "./demo-ingest.ts";
import type { Running } from "./launch.ts";
import { programPart, runCommand } from "./node-process.ts";
import { assertPortFree, freePort } from "./ports.ts";
import { startPostgres } from "./postgres.ts";
import { type ProcessRecord, claimDataDir, openProcessRecord, stopLeftovers } from "./process-record.ts";
import { demoKey, masterKey } from "./secret-file.ts";
import { chooseCacheDir, makeDataDir, serverUser } from "./server-user.ts";
import { StartError, messageOf } from "./start-error.ts";
import { type Supervisor, supervise } from "./supervise.ts";
import { startTemporal } from "./temporal.ts";

const API_STOP_GRACE_MS = 20_000;
const WORKER_STOP_GRACE_MS = 30_000;
/** npm passes a Ctrl-C on that the terminal has sent to this process too: two signals at once are one. */
const SAME_SIGNAL_MS = 1_000;

interface Session {
  readonly config: Config;
  readonly supervisor: Supervisor;
  readonly cacheDir: string;
  readonly stop: AbortSignal;
}

function progress(line: string): void {
  process.stderr.write(`${line}\n`);
}

async function main(): Promise<void> {
  const startedAt = Date.now();
  const config = loadConfig();
  const user = config.database.url === undefined ? await serverUser() : undefined;
  await makeDataDir(config.dataDir, user);
  const lock = await claimDataDir(config.dataDir);
  await stopLeftovers(config.dataDir, progress);
  const record = openProcessRecord(config.dataDir);
  const stop = new AbortController();
  const supervisor = supervise({ onProgress: progress, onLaunch: (running) => record.add(running), onGiveUp: (why) => stop.abort(new StartError(`${why}. Its log is in ${config.dataDir}/logs.`)) });
  listenForSignals(stop, supervisor);
  const stopped = new Promise<void>((resolve) => stop.signal.addEventListener("abort", () => resolve(), { once: true }));
  try {
    const cacheDir = await chooseCacheDir({ configured: config.cacheDir, dataDir: config.dataDir, user });
    // A signal ends the start in whatever it waits for.
    const text = await Promise.race([bringUp({ config, supervisor, cacheDir, stop: stop.signal }, startedAt), stopped]);
    if (typeof text === "string") process.stdout.write(text);
    await stopped;
    throwIfFailed(stop.signal);
  } finally {
    stop.abort();
    await shutDown(supervisor, record);
    await lock.release();
  }
}

async function bringUp(session: Session, startedAt: number): Promise<string> {
  const { config, supervisor, stop } = session;
  const port = config.api.port === 0 ? await freePort() : config.api.port;
  await assertPortFree("PORT", port, config.api.host);
  const servers = await startServers(session);
  const key = config.keys.kmsKeyName === undefined ? (config.keys.master?.toString("base64") ?? (await masterKey(config.dataDir))) : undefined;
  const env = childEnvironment(inheritedEnvironment(), config, { ...servers, masterKey: key, port });
  await runCommand(["migrate"], env, stop);
  const demo = await provision(session, env);
  const address = localAddress(config.api.host, port);
  stop.throwIfAborted();
  const { dataDir } = config;
  progress("starting the worker and the API …");
  await Promise.all([
    supervisor.add(programPart("worker", { env, dataDir, stopGraceMs: WORKER_STOP_GRACE_MS })),
    supervisor.add(programPart("api", { env, dataDir, stopGraceMs: API_STOP_GRACE_MS, healthUrl: `${address}/health` })),
  ]);
  if (demo !== undefined) await ingestOnce(session, address, demo);
  return banner({ address, temporalUi: servers.temporalUi, demoKey: demo, dataDir, hasChatModel: config.models.chatModel !== undefined, seconds: (Date.now() - startedAt) / 1_000 });
}

async function startServers({ config, supervisor, cacheDir, stop }: Session) {
  const { dataDir } = config;
  const shared = { dataDir, cacheDir, onProgress: progress, signal: stop };
  // Those that run keep their ports when they are started again: the others know them by these.
  let databasePort: number | undefined;
  let temporalPorts: { port?: number; uiPort?: number } = {};
  const startDatabase = async (onLaunch: (running: Running) => void) => {
    const server = await startPostgres({ ...shared, port: databasePort, onLaunch });
    databasePort = server.port;
    return server;
  };
  const startWorkflows = async (onLaunch: (running: Running) => void) => {
    const server = await startTemporal({ ...shared, ...temporalPorts, onLaunch });
    temporalPorts = { port: server.port, uiPort: server.uiPort };
    return server;
  };
  progress("starting …");
  const [postgres, temporal] = await Promise.all([
    config.database.url !== undefined ? undefined : supervisor.add({ name: "postgres", start: startDatabase }),
    config.temporal.address !== undefined ? undefined : supervisor.add({ name: "temporal", start: startWorkflows }),
  ]);
  return {
    databaseUrl: config.database.url ?? postgres?.url ?? "",
    isDatabaseEmbedded: postgres !== undefined,
    temporalAddress: config.temporal.address ?? temporal?.address ?? "",
    isTemporalEmbedded: temporal !== undefined,
    temporalUi: temporal?.uiUrl,
  };
}

/** Applies the user's file at every start, or the demo once. Returns the demo's key where the demo is in use. */
async function provision({ config, stop }: Session, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  if (config.provisionFile !== undefined) {
    const printed = await runCommand(["provision", config.provisionFile], env, stop);
    if (printed !== "") progress(printed);
    return undefined;
  }
  // A demo key has no place in an installation that serves others.
  if (config.environment === "production") return undefined;
  const key = await demoKey(config.dataDir);
  const state = await readDemoState(config.dataDir);
  if (state.isProvisioned) return key;
  progress("making the demo organization …");
  await runCommand(["provision", DEMO_FILE], { ...env, DEMO_API_KEY: key }, stop);
  await writeDemoState(config.dataDir, { ...state, isProvisioned: true });
  return key;
}

async function ingestOnce({ config, stop }: Session, address: string, key: string): Promise<void> {
  const state = await readDemoState(config.dataDir);
  if (state.isComplete) return;
  progress("taking in the demo documents …");
  try {
    await ingestDemoDocuments({ address, key, dataDir: config.dataDir, state, signal: stop, onProgress: progress });
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

function inheritedEnvironment(): NodeJS.ProcessEnv {
  // oxlint-disable-next-line node/no-process-env -- children inherit it; nothing is read from it here
  return process.env;
}

try {
  await main();
  progress("stopped");
  // What was still being started when the stop came may hold the process open.
  process.exit(0);
} catch (error) {
  const isExpected = error instanceof StartError || error instanceof ConfigError;
  progress(isExpected ? error.message : `Holdfast could not start: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  process.exit(1);
}
