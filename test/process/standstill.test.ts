/** A time limit that ran out because this machine is busy is told from one that others are to blame for. */
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { asDatabaseError, noteAnswer } from "../../src/db/outages.ts";
import { DomainError } from "../../src/domain/errors.ts";
import { answersInTime } from "../../src/process/answers-in-time.ts";
import {
  createStandstillMeter,
  stoodStill,
  wasStarved,
  watchStandstill,
} from "../../src/process/standstill.ts";
import { within } from "../../src/storage/object-store.ts";

describe("the meter", () => {
  /** Runs through `lates`: by how much each tick is late, and how much of it the thread computes. */
  function measured(lates: readonly (readonly [late: number, computed: number])[]) {
    const clock = { now: 0, cpu: 0 };
    const meter = createStandstillMeter({ now: () => clock.now, cpuMs: () => clock.cpu });
    for (const [late, computed] of lates) {
      clock.now += 100 + late;
      clock.cpu += computed;
      meter.tick();
    }
    return { meter, clock };
  }
  const quiet = Array.from({ length: 100 }, () => [0, 20] as const);

  test("a loop that is on time stands never still, however much it computes in between", () => {
    const { meter } = measured(Array.from({ length: 100 }, () => [0, 100] as const));
    expect([meter.stoodStillMs(10_000), meter.starvedMs(10_000)]).toEqual([0, 0]);
  });

  test("a loop that its own work blocks stands still and is not starved", () => {
    const { meter } = measured([...quiet, [4_000, 4_100]]);
    expect([meter.stoodStillMs(10_000), meter.starvedMs(10_000)]).toEqual([4_000, 0]);
  });

  test("a loop without a processor is starved, also before its next tick", () => {
    const { meter, clock } = measured([...quiet, [4_000, 0]]);
    expect([meter.stoodStillMs(10_000), meter.starvedMs(10_000)]).toEqual([4_000, 4_000]);
    clock.now += 1_100;
    expect(meter.starvedMs(10_000)).toBe(5_000);
  });

  test("what is longer ago than the window does not count", () => {
    const { meter } = measured([[4_000, 0], ...quiet, ...quiet]);
    expect(meter.starvedMs(10_000)).toBe(0);
    expect(meter.starvedMs(30_000)).toBe(4_000);
  });
});

const notConnected = () => new Error("timeout exceeded when trying to connect");
const cancelled = () => Object.assign(new Error("canceling statement"), { code: "57014" });
const codeOf = (error: unknown) => (error instanceof DomainError ? [error.code, error.class] : "as it is");

describe("by class", () => {
  /** The clocks of the process are not asked: whoever runs this may be busy. */
  const clock = { now: 0, cpu: 0 };
  let unwatch: () => void;
  beforeEach(() => {
    Object.assign(clock, { now: 0, cpu: 0 });
    unwatch = watchStandstill({ now: () => clock.now, cpuMs: () => clock.cpu });
  });
  afterEach(() => {
    vi.useRealTimers();
    unwatch();
  });

  test("a database that answers nobody is an outage", () => {
    vi.spyOn(performance, "now").mockReturnValueOnce(performance.now() + 60_000);
    expect(codeOf(asDatabaseError(notConnected()))).toEqual(["database_unavailable", "outage"]);
  });

  test("a statement that took too long on a quiet machine is our own mistake", () => {
    expect(codeOf(asDatabaseError(cancelled()))).toBe("as it is");
  });

  test("a connection that was not had while others answer is starved", () => {
    noteAnswer();
    expect(codeOf(asDatabaseError(notConnected()))).toEqual(["starved", "starved"]);
    const refused = Object.assign(new Error("connect"), { code: "ECONNREFUSED" });
    expect(codeOf(asDatabaseError(refused))).toEqual(["database_unavailable", "outage"]);
  });

  test("what ran out while the loop stood still is starved, and waits as an outage does", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const silent = new Promise<never>(() => undefined);
    const store = within(1_000, silent).catch((error: unknown) => error);
    const probe = answersInTime(async () => new Promise((resolve) => setTimeout(resolve, 2_500)));
    const before = stoodStill(1_000);
    // It never comes to a tick within the window of any of them.
    clock.now = 3_600_000;
    expect([before, stoodStill(1_000)]).toEqual([false, true]);
    await vi.advanceTimersByTimeAsync(2_500);
    const error = await store;
    expect(codeOf(error)).toEqual(["starved", "starved"]);
    expect(error).toMatchObject({
      status: 503,
      passes: true,
      message: "This service does not have enough CPU time.",
    });
    expect(await probe).toBe(true);
    expect(codeOf(asDatabaseError(notConnected()))).toEqual(["starved", "starved"]);
  });

  test("a process that has not lived for the window does not judge others by it", () => {
    expect(wasStarved(3_600_000)).toBe(false);
  });
});
