import { execFileSync } from "node:child_process";
import { DEADLINES, PAUSES } from "#timings";
import { expect, test } from "vitest";
import * as production from "../../../src/domain/work/timings.ts";

const heartbeatOf = (...nodeArguments: string[]): number =>
  Number(
    execFileSync(process.execPath, [...nodeArguments, "--print", 'require("#timings").DEADLINES.heartbeat'], {
      cwd: import.meta.dirname,
      encoding: "utf8",
    }),
  );

test("a process has the production's timings unless it was started for a test", () => {
  expect(heartbeatOf()).toBe(10_000);
  expect(heartbeatOf("--conditions=quick-timings")).toBe(4_000);
});

test("tests pause a fifth and miss what is dead after two fifths, but never less than two seconds for what a busy machine can miss", () => {
  expect(DEADLINES.runningLease).toBe((production.DEADLINES.runningLease * 2) / 5);
  expect(PAUSES.longestRetry).toBe(production.PAUSES.longestRetry / 5);
  expect(Math.min(...Object.values<number>(DEADLINES))).toBe(2_000);
});

test.each([
  ["in production", production],
  ["in tests", { DEADLINES, PAUSES }],
])("%s a process has at least two tries to show that it lives", (_where, timings) => {
  const { DEADLINES: deadlines, PAUSES: pauses } = timings as typeof production;
  for (const [deadline, pause] of [
    [deadlines.heartbeat, pauses.heartbeat],
    [deadlines.heartbeat, pauses.adoptionHeartbeat],
    [deadlines.toolHeartbeat, pauses.heartbeat],
    [deadlines.isolationPulse, pauses.isolationPulse],
    [deadlines.requestLease, pauses.requestLease],
    [deadlines.processLease, pauses.processLease],
    [deadlines.processAlive, pauses.processRenewal],
  ] as const)
    expect(deadline / pause).toBeGreaterThan(2);
  expect(deadlines.isolationPulse).toBeGreaterThan(deadlines.heartbeat);
});
