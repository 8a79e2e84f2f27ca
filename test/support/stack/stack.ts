/**
 * Starts a whole Holdfast for tests: its own database, object folder and processes, on the run's Postgres and
 * Temporal or on a Temporal of its own.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MEMORY_SETTINGS } from "../../../src/embedded/processes/child-environment.ts";
import { freePort } from "../../../src/embedded/ports.ts";
import { type Temporal, startTemporal } from "../../../src/embedded/servers/temporal.ts";
import { atEnd } from "../run/at-end.ts";
import { type DatabaseEnvironment, type TestDatabase, createTestDatabase } from "../servers/database.ts";
import { type TestProcess, endedProcess, startProcess } from "./processes.ts";
import { provisionTenants } from "../tenants/provision.ts";
import { type ScriptedProvider, startScriptedProvider } from "../provider/scripted-provider.ts";
import { TENANTS } from "../tenants/tenants.ts";
import { until } from "../until.ts";

const MASTER_KEY = Buffer.alloc(32, 7).toString("base64");
const MODEL = "scripted-embedding";
const DIMENSIONS = "64";
/** Generous, for a machine that is busy with other tests. */
const START_MS = 90_000;

export interface Stack {
  /** The API's address without `/v1`. */
  readonly url: string;
  readonly provider: ScriptedProvider;
  readonly database: TestDatabase;
  readonly temporalAddress: string;
  /** The address of Temporal's Web UI, if {@link StackOptions.hasTemporalUi} is set. */
  readonly temporalUi: string | undefined;
  /**
   * Stops the stack's Temporal. It remembers its workflows after the restart only if `keepsWorkflows` is set.
   */
  stopTemporal(): Promise<void>;
  /** Kills the stack's Temporal, with the consequences of {@link Stack.stopTemporal}. */
  killTemporal(): Promise<void>;
  /** Starts Temporal again at the same address. */
  restartTemporal(): Promise<void>;
  readonly dataDir: string;
  /** The settings that every process of the stack runs with. */
  readonly env: Record<string, string>;
  readonly api: TestProcess;
  worker: TestProcess;
  /** Starts a worker in place of one that was killed, optionally with additional settings. */
  restartWorker(extra?: Record<string, string>): void;
  /** Starts the API again on the same port, optionally with additional settings. */
  restartApi(extra?: Record<string, string>): Promise<void>;
  /** Kills its processes and removes its database and its files. */
  close(): Promise<void>;
  /** Kills its processes synchronously, for a process that is ending; what they have stored stays. */
  killAll(): void;
}

export interface StackOptions {
  /** Settings of all processes; a function receives the settings of the stack's database. */
  readonly env?: Record<string, string> | ((database: DatabaseEnvironment) => Record<string, string>);
  /** Uses the embedding model that ships with the project instead of the scripted provider's. */
  readonly localModels?: boolean;
  readonly withoutWorker?: boolean;
  readonly withoutTenants?: boolean;
  /**
   * Starts a Temporal of the stack's own that keeps its workflows on disk, so that they outlive {@link
   * Stack.stopTemporal}.
   */
  readonly keepsWorkflows?: boolean;
  /** Serves Temporal's Web UI, whose pages may call the API. */
  readonly hasTemporalUi?: boolean;
}

/**
 * Starts a stack. Its Temporal serves no other stack, because task queues have the same names in every stack.
 */
export async function startStack(options: StackOptions = {}): Promise<Stack> {
  const dataDir = await mkdtemp(join(process.env["HOLDFAST_TEST_RUN_DIR"] ?? tmpdir(), "holdfast-stack-"));
  const [database, provider, temporal, port] = await Promise.all([
    createTestDatabase(),
    startScriptedProvider(),
    ownTemporal(dataDir, options),
    freePort(),
  ]);
  const settings = typeof options.env === "function" ? options.env(database.env) : options.env;
  const env: Record<string, string> = {
    ...MEMORY_SETTINGS,
    NODE_ENV: "test",
    PORT: String(port),
    DATA_DIR: dataDir,
    ...database.env,
    DATABASE_POOL_SIZE: "10",
    TEMPORAL_ADDRESS: temporal.address,
    MASTER_KEY,
    ...(temporal.uiUrl === undefined ? {} : { CORS_ORIGINS: temporal.uiUrl }),
    WEBHOOK_ALLOW_HOSTS: "127.0.0.1",
    LOG_LEVEL: "info",
    RATE_LIMIT_RPM: "1000000",
    CHAT_RATE_LIMIT_RPM: "1000000",
    REFUSAL_RATE_LIMIT_RPM: "1000000",
    ...(options.localModels
      ? {}
      : {
          OPENAI_BASE_URL: provider.url,
          OPENAI_API_KEY: "sk-scripted",
          EMBEDDING_MODEL: MODEL,
          EMBEDDING_DIMENSIONS: DIMENSIONS,
          CHAT_MODEL: "scripted-chat",
        }),
    ...settings,
  };
  const startWorker = (extra = {}): TestProcess => startProcess("src/worker/main.ts", { ...env, ...extra });
  const startApi = (extra = {}): TestProcess => startProcess("src/api/main.ts", { ...env, ...extra });
  const url = `http://127.0.0.1:${port}`;
  const stack = {
    url,
    provider,
    database,
    temporalAddress: temporal.address,
    temporalUi: temporal.uiUrl,
    stopTemporal: () => temporal.stop(),
    killTemporal: () => temporal.kill(),
    restartTemporal: () => temporal.restart(),
    dataDir,
    env,
    api: startApi(),
    worker: options.withoutWorker ? endedProcess() : startWorker(),
    restartWorker(extra: Record<string, string> = {}) {
      stack.worker = startWorker(extra);
    },
    async restartApi(extra: Record<string, string> = {}) {
      stack.api = startApi(extra);
      await isUp(url, stack.api);
    },
    async close() {
      hasEnded();
      await Promise.all([
        stack.api.kill("SIGKILL"),
        stack.worker.kill("SIGKILL"),
        temporal.kill(),
        provider.close(),
      ]);
      await database.drop();
      await rm(dataDir, { recursive: true, force: true });
    },
    killAll() {
      for (const part of [stack.api, stack.worker]) part.child.kill("SIGKILL");
      void temporal.kill();
    },
  };
  // What it has stored is removed with the folder of the run.
  const hasEnded = atEnd(() => stack.killAll());
  try {
    await Promise.all([
      isUp(url, stack.api),
      options.withoutTenants ? undefined : provisionTenants(database.db, env, TENANTS),
    ]);
  } catch (error) {
    await stack.close();
    throw error;
  }
  return stack;
}

interface OwnTemporal {
  readonly address: string;
  readonly uiUrl: string | undefined;
  stop(): Promise<void>;
  /** Kills it synchronously; the promise resolves after it is dead. */
  kill(): Promise<void>;
  restart(): Promise<void>;
}

async function ownTemporal(
  dataDir: string,
  { keepsWorkflows = false, hasTemporalUi = false }: StackOptions,
): Promise<OwnTemporal> {
  const cacheDir = process.env["HOLDFAST_TEST_CACHE_DIR"];
  if (!cacheDir)
    throw new Error(
      "HOLDFAST_TEST_CACHE_DIR is not set: run the test through vitest, whose global set-up fetches " +
        "what it needs.",
    );
  const settings = {
    dataDir,
    cacheDir,
    port: await freePort(),
    uiPort: await freePort(),
    inMemory: !keepsWorkflows,
    hasUi: hasTemporalUi,
    onProgress: () => undefined,
  };
  let running: Temporal = await startTemporal(settings);
  return {
    address: running.address,
    uiUrl: running.uiUrl,
    stop: () => running.stop(),
    async kill() {
      running.kill();
      await running.exited;
    },
    async restart() {
      running = await startTemporal(settings);
    },
  };
}

async function isUp(url: string, api: TestProcess): Promise<void> {
  await until(
    `the API at ${url} answers`,
    async () => {
      if (api.child.exitCode !== null) throw new Error(`the API ended:\n${api.output()}`);
      const response = await fetch(`${url}/health`, { signal: AbortSignal.timeout(2_000) });
      return response.ok;
    },
    START_MS,
  );
}
