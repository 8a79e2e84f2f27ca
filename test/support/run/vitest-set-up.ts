/**
 * Vitest's global set-up for the projects that need servers: one Postgres for all of them, and a Temporal for
 * `stack`.
 */
import type { TestProject } from "vitest/node";
import { startProcessesWith } from "../stack/processes.ts";
import type { RunningParts } from "./global-setup.ts";

/**
 * Vitest loads this file once for each project, so what the projects share must be kept on the global object.
 */
const SHARED = Symbol.for("holdfast.test.parts");

interface Shared {
  readonly parts: Promise<RunningParts>;
  users: number;
}

/**
 * Garbage is collected by the thread that made it, since threads that help would wait for each other on two
 * busy cores, and not because a process is idle: a start costs a tenth less.
 */
const NODE_ARGUMENTS = ["--no-memory-reducer", "--single-threaded-gc", "--min-semi-space-size=16"];

type Holder = { [SHARED]?: Shared };

/**
 * Only the first project loads the modules that start servers: metrics, for example, may be registered only
 * once in a process.
 */
async function start(): Promise<RunningParts> {
  const { quickFolder, startParts } = await import("./global-setup.ts");
  startProcessesWith(...NODE_ARGUMENTS, "--conditions=quick-timings");
  return startParts({ isDurable: false, folder: await quickFolder() });
}

/** Returns the tear-down, which ends the servers after the last project has ended. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const holder = globalThis as Holder;
  const shared = (holder[SHARED] ??= { parts: start(), users: 0 });
  shared.users += 1;
  const parts = await shared.parts;
  const temporal = ["stack", "nightly"].includes(project.name) ? await parts.startTemporal() : undefined;
  return async () => {
    await temporal?.stop();
    shared.users -= 1;
    if (shared.users > 0) return;
    delete holder[SHARED];
    await parts.stop();
  };
}
