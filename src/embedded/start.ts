/**
 * `npm start`: everything on one machine, with an embedded server for each one that no setting names. With
 * `--dev`, as `npm run dev` calls it, the API and the worker restart after each edit of `src/`.
 */
import { join } from "node:path";
import { ConfigError, loadConfig, unknownSettings } from "../config/config.ts";
import { describeFailure } from "../domain/expected-failure.ts";
import { HOPELESS_EXIT, aborted } from "../process/stop.ts";
import { bringUp } from "./bring-up.ts";
import { startGuardian } from "./processes/guardian.ts";
import {
  type ProcessRecord,
  claimDataDir,
  openProcessRecord,
  stopLeftovers,
} from "./processes/process-record.ts";
import { watchStarter } from "./processes/starter.ts";
import { type Supervisor, supervise } from "./processes/supervise.ts";
import { chooseCacheDir, makeDataDir, serverUser } from "./servers/server-user.ts";
import type { Session } from "./session.ts";
import { HopelessStartError, StartError } from "./start-error.ts";

const isDev = process.argv.includes("--dev");
/** Both the terminal and npm send a Ctrl-C to this process, so two signals within this time count as one. */
const SAME_SIGNAL_MS = 1_000;

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
        progress(`${known} It restarts with the next edit.`);
      else stop.abort(isHopeless ? new HopelessStartError(known) : new StartError(known));
    },
  });
  listenForSignals(stop, supervisor);
  watchStarter((name) => {
    progress(`${name} has stopped: stopping …`);
    stop.abort();
  });
  const stopped = aborted(stop.signal);
  try {
    const cacheDir = await chooseCacheDir({ configured: config.cacheDir, dataDir: config.dataDir, user });
    const session: Session = {
      config,
      supervisor,
      cacheDir,
      stop: stop.signal,
      inherited: inheritedEnvironment(config.dataDir),
      isDev,
      progress,
    };
    // A signal ends the start, whatever it is waiting for.
    const text = await Promise.race([bringUp(session, startedAt), stopped]);
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
  // If the reader of our output ends (`npm start | head`), the supervisor must still stop its parts.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);
}

async function shutDown(supervisor: Supervisor, record: ProcessRecord): Promise<void> {
  await supervisor.stopAll();
  await record.clear();
}

function throwIfFailed(signal: AbortSignal): void {
  if (signal.reason instanceof StartError) throw signal.reason;
}

/** The user's environment, with a cache for compiled code in the data folder, which shortens later starts. */
function inheritedEnvironment(dataDir: string): NodeJS.ProcessEnv {
  // oxlint-disable-next-line node/no-process-env -- children inherit it; nothing is read from it here
  return { NODE_COMPILE_CACHE: join(dataDir, "cache", "compiled"), ...process.env };
}

try {
  await main();
  progress("stopped");
  // A part that was being started when the stop came could keep the process alive.
  process.exit(0);
} catch (error) {
  progress(
    describeFailure(error) ??
      `Holdfast could not start: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
  );
  process.exit(error instanceof ConfigError || error instanceof HopelessStartError ? HOPELESS_EXIT : 1);
}
