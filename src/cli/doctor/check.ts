/** The checks of `holdfast doctor`: they run in parallel, each with a time-out of its own. */
import { reasonOf } from "./reason.ts";

type State = "ok" | "warn" | "fail";

export interface Finding {
  readonly state: State;
  /** What was found; never a secret or text of a tenant. */
  readonly seen: string;
  /** What to do about it; absent if nothing is to be done. */
  readonly remedy?: string;
}

export interface Check {
  readonly name: string;
  /** The check that this one depends on: if it fails, this one has nothing to add. */
  readonly needs?: string;
  /** {@link TIMEOUT_MS} by default. */
  readonly timeoutMs?: number;
  /** What to do if the check throws or times out. */
  readonly remedy: string;
  /** Leaves nothing changed. If it throws, the result is `fail` with the reason. */
  run(signal: AbortSignal): Promise<Finding>;
}

export interface Result extends Finding {
  readonly name: string;
}

const TIMEOUT_MS = 10_000;

export const ok = (seen: string): Finding => ({ state: "ok", seen });
export const warn = (seen: string, remedy: string): Finding => ({ state: "warn", seen, remedy });
export const fail = (seen: string, remedy: string): Finding => ({ state: "fail", seen, remedy });

interface Outcome extends Result {
  /** True if the check itself did not complete. */
  readonly isBroken: boolean;
}

/** Runs all checks; never throws. Results keep the checks' order; a follow-on failure repeats no reason. */
export async function runChecks(checks: readonly Check[]): Promise<Result[]> {
  const outcomes = await Promise.all(checks.map(async (check) => ({ check, outcome: await bounded(check) })));
  const failed = new Set(
    outcomes.filter(({ outcome }) => outcome.state === "fail").map(({ check }) => check.name),
  );
  return outcomes.map(({ check: { needs }, outcome: { isBroken, ...result } }) => {
    const isOthers = isBroken && needs !== undefined && failed.has(needs);
    return isOthers
      ? { name: result.name, ...warn(`skipped: ${needs} fails`, `fix ${needs} first`) }
      : result;
  });
}

async function bounded(check: Check): Promise<Outcome> {
  const { name, remedy, timeoutMs = TIMEOUT_MS } = check;
  const stop = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Outcome>((resolve) => {
    timer = setTimeout(
      () => resolve({ name, isBroken: true, ...fail(`no answer within ${timeoutMs / 1_000} s`, remedy) }),
      timeoutMs,
    );
  });
  try {
    return await Promise.race([
      check.run(stop.signal).then((finding) => ({ name, isBroken: false, ...finding })),
      late,
    ]);
  } catch (error) {
    return { name, isBroken: true, ...fail(reasonOf(error), remedy) };
  } finally {
    clearTimeout(timer);
    stop.abort();
  }
}
