/** A parser that is late is at fault unless this machine gave it no time. */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { DomainError } from "../../../src/domain/errors.ts";
import { limitTime } from "../../../src/parsers/process/time-limit.ts";
import { watchStandstill } from "../../../src/process/standstill.ts";

const LIMIT_MS = 10_000;
const clock = { now: 0 };
let unwatch: () => void;
let errors: DomainError[];

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  clock.now = 0;
  unwatch = watchStandstill({ now: () => clock.now, cpuMs: () => 0 });
  errors = [];
});
afterEach(() => {
  unwatch();
  vi.useRealTimers();
});

/** @param computed seconds of processor time that the process has by its limit */
function limit(computed: number): () => void {
  const seconds = [3, 3 + computed];
  return limitTime({
    pid: 1,
    timeoutMs: LIMIT_MS,
    onLate: (error) => errors.push(error),
    secondsOf: async () => seconds.shift() ?? 0,
  });
}

const starve = (): void => {
  clock.now = 3_600_000;
};

it.each([
  ["on a quiet machine", 1, () => undefined, "timeout"],
  ["on a starved machine that left it no time", 1, starve, "starved"],
  ["that computed for most of its time, although the machine was starved", 6, starve, "timeout"],
])("a task %s", async (_, computed, before, code) => {
  limit(computed);
  before();
  await vi.advanceTimersByTimeAsync(LIMIT_MS);
  expect(errors.map((error) => error.code)).toEqual([code]);
});

it("a task that has ended is not late", async () => {
  const end = limit(1);
  vi.advanceTimersByTime(LIMIT_MS);
  end();
  await vi.advanceTimersByTimeAsync(LIMIT_MS);
  expect(errors).toEqual([]);
});
