/**
 * Runs the processes of one version, an API and a worker, from that version's own tree on what both versions
 * share.
 */
import { freePort } from "../../../src/embedded/ports.ts";
import { type TestProcess, runCli, startProcess } from "../../support/stack/processes.ts";
import { until } from "../../support/until.ts";
import type { World } from "./world/world.ts";

const API = "src/api/main.ts";
const WORKER = "src/worker/main.ts";
const START_MS = 60_000;
const WORKFLOW_QUEUE = "pipeline";
const WORKFLOW_TASKS = 1;

export interface Service {
  /** Its name in the report. */
  readonly name: string;
  /** The API's address, without `/v1`. */
  readonly url: string;
  /** The API process that was started last. @throws Error before the first start. */
  readonly api: TestProcess;
  readonly worker: TestProcess;
  /** What its processes have printed last, including those that have ended. */
  output(): string;
  /** Runs a command of this version's CLI and returns what it printed. */
  cli(...args: string[]): Promise<string>;
  startApi(): Promise<void>;
  startWorker(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Picks a port but starts nothing yet.
 */
export async function prepareService(world: World, name: string, root: string): Promise<Service> {
  let port = await freePort();
  let hasBeenUp = false;
  const env = { ...world.env, PORT: String(port) };
  const started: { main: string; child: TestProcess }[] = [];
  const start = (main: string): TestProcess => {
    const child = startProcess(main, env, root);
    started.push({ main, child });
    return child;
  };
  const lastOf = (main: string): TestProcess => {
    const last = started.findLast((one) => one.main === main);
    if (last === undefined) throw new Error(`${name} has not started ${main}`);
    return last.child;
  };
  return {
    name,
    get url() {
      return `http://127.0.0.1:${port}`;
    },
    get api() {
      return lastOf(API);
    },
    get worker() {
      return lastOf(WORKER);
    },
    output: () => started.map(({ child }) => child.output()).join("\n"),
    cli: (...args) => runCli(args, env, root),
    async startApi() {
      for (;;) {
        const health = `http://127.0.0.1:${port}/health`;
        const isUp = async () => (await fetch(health, { signal: AbortSignal.timeout(2_000) })).ok;
        const api = start(API);
        try {
          await becomesReady(`the API of ${name}`, api, isUp);
          hasBeenUp = true;
          return;
        } catch (error) {
          // Another program of this machine may have taken the port since it was seen as free.
          if (hasBeenUp || !api.output().includes(`Port ${port} on 127.0.0.1 is in use`)) throw error;
        }
        port = await freePort();
        env.PORT = String(port);
      }
    },
    async startWorker() {
      const worker = start(WORKER);
      await becomesReady(`the worker of ${name}`, worker, () => polls(world, worker.child.pid!));
    },
    async stop() {
      await Promise.all(started.map(({ child }) => child.kill("SIGTERM")));
    },
  };
}

async function becomesReady(
  what: string,
  { child, output }: TestProcess,
  look: () => Promise<boolean>,
): Promise<void> {
  await until(`${what} is up`, () => child.exitCode !== null || look(), START_MS);
  if (child.exitCode !== null) throw new Error(`${what} ended by itself:\n${output().slice(-2_000)}`);
}

/**
 * Whether the process polls Temporal for workflow tasks, which is the last thing that a starting worker does.
 */
async function polls({ temporal }: World, pid: number): Promise<boolean> {
  const { pollers } = await temporal.workflowService.describeTaskQueue({
    namespace: "default",
    taskQueue: { name: WORKFLOW_QUEUE },
    taskQueueType: WORKFLOW_TASKS,
  });
  return pollers!.some(({ identity }) => identity!.startsWith(`${pid}@`));
}
