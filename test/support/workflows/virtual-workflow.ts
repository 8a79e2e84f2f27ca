/**
 * Replaces `@temporalio/workflow` in every test (by an alias in vitest.config.ts). It runs a workflow's own
 * code in this process, with activities that the test supplies and a clock that jumps when the workflow
 * sleeps. What is marked `@public` is imported by src/workflows under the package's name.
 */
import { createRequire } from "node:module";
import { type Context, asyncLocalStorage } from "@temporalio/activity";
import type * as temporal from "@temporalio/workflow";

const real = createRequire(import.meta.url)("@temporalio/workflow") as typeof temporal;
/** @public */
export const {
  ActivityCancellationType,
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  TimeoutFailure,
  isCancellation,
} = real;

type Activities = Record<string, (input: never) => Promise<unknown>>;

interface Setting {
  readonly activities: Activities;
  /** Called at each sleep of the workflow, so that the test can age its data by as much. */
  readonly onSleep?: (ms: number) => Promise<void>;
  /** The result of `workflowInfo()`, read at each call. */
  readonly info?: { continueAsNewSuggested: boolean };
}

interface VirtualWorkflow {
  /** Sends the workflow a signal. */
  signal(name: string): void;
  /** Milliseconds that the workflow has slept so far. */
  sleptMs(): number;
}

let current: Setting | undefined;
const handlers = new Map<string, () => void>();
let slept = 0;

/** Sets what the workflow functions that are called from now on run with. */
export function virtualWorkflow(setting: Setting): VirtualWorkflow {
  current = setting;
  slept = 0;
  return { sleptMs: () => slept, signal: (name) => handlers.get(name)!() };
}

/** Thrown by `continueAsNew`: ends the run of a workflow; carries the arguments of the next run. */
export class ContinuedAsNew extends Error {
  readonly args: readonly unknown[];
  constructor(args: readonly unknown[]) {
    super("continued as new");
    this.args = args;
  }
}

const now = (): Setting => {
  if (current === undefined)
    throw new Error("A workflow is called outside of Temporal: the test calls virtualWorkflow first.");
  return current;
};

function inContext(work: () => Promise<unknown>): Promise<unknown> {
  const context = { cancellationSignal: new AbortController().signal, heartbeat: () => undefined };
  return asyncLocalStorage.run(context as unknown as Context, work);
}

/** @public */
export const proxyActivities = (): Activities =>
  new Proxy<Activities>(
    {},
    { get: (_target, name: string) => (input: never) => inContext(() => now().activities[name]!(input)) },
  );
/** @public */
export const proxyLocalActivities = (): Activities => proxyActivities();
/** @public */
export const continueAsNew = (...args: unknown[]): Promise<never> => Promise.reject(new ContinuedAsNew(args));
/** @public */
export const defineQuery = (name: string): string => name;
/** @public */
export const defineSignal = (name: string): string => name;
/** @public */
export const setHandler = (name: string, handler: () => void): void => {
  handlers.set(name, handler);
};
/** @public */
export const setCurrentDetails = (): void => undefined;
/** @public */
export const upsertSearchAttributes = (): void => undefined;
/** @public */
export const workflowInfo = (): NonNullable<Setting["info"]> =>
  now().info ?? { continueAsNewSuggested: false };

/** @public */
export async function sleep(ms: number): Promise<void> {
  slept += ms;
  await now().onSleep?.(ms);
}

/** @public */
export async function condition(isMet: () => boolean, ms: number): Promise<boolean> {
  if (!isMet()) await sleep(ms);
  return isMet();
}
