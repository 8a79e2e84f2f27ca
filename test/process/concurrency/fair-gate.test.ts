/** The order in which callers enter a gate that admits only some at a time. */
import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import {
  type FairGate,
  createFairGate,
  createWriteGate,
} from "../../../src/process/concurrency/fair-gate.ts";
import { inGroups } from "../../../src/activities/pipeline/groups.ts";
import { createTimeSlice, turnOfLoop } from "../../../src/process/time-slice.ts";

const owner = (organizationId: string, userId: string | null = null) => ({ organizationId, userId });

/** Starts work that ends when the test lets it. */
function held(gate: FairGate) {
  const begun: string[] = [];
  const ends = new Map<string, PromiseWithResolvers<void>>();
  const enter = (name: string, organizationId: string, size = 1): Promise<void> =>
    gate({ owner: owner(organizationId), size }, () => {
      begun.push(name);
      ends.set(name, Promise.withResolvers());
      return ends.get(name)!.promise;
    });
  const end = async (name: string): Promise<void> => {
    ends.get(name)!.resolve();
    await turn();
  };
  return { begun, enter, end, fail: (name: string) => ends.get(name)!.reject(new Error("failed")) };
}

test("a gate lets so many in at once, then the organization that had least, its smallest first", async () => {
  const { begun, enter, end } = held(createFairGate(2));
  for (const name of ["a1", "a2"]) void enter(name, "acme");
  for (const [name, size] of [
    ["a3", 9],
    ["a4", 1],
  ] as const)
    void enter(name, "acme", size);
  void enter("b1", "rival", 100);
  await turn();
  expect(begun).toEqual(["a1", "a2"]);
  await end("a1");
  expect(begun).toEqual(["a1", "a2", "b1"]);
  await end("a2");
  expect(begun.at(-1)).toBe("a4");
  await end("a4");
  expect(begun.at(-1)).toBe("a3");
});

test("work that fails leaves its place to the next", async () => {
  const { begun, enter, fail } = held(createFairGate(1));
  const first = enter("first", "acme");
  void enter("second", "acme");
  await turn();
  fail("first");
  await expect(first).rejects.toThrow("failed");
  await turn();
  expect(begun).toEqual(["first", "second"]);
});

test("small writers do not wait for large ones, and a pool keeps half of its connections free", async () => {
  const { begun, enter } = held(createWriteGate(10));
  for (let index = 0; index < 20; index++) void enter(`large${index}`, "acme", 512);
  await turn();
  expect(begun).toHaveLength(2);
  for (let index = 0; index < 20; index++) void enter(`small${index}`, "rival", 1);
  await turn();
  expect(begun.slice(2)).toEqual(["small0", "small1", "small2"]);
});

test("documents share transactions of a bounded size, and a large one is alone", () => {
  expect(inGroups([500, 10, 5, 600, 1, 511, 1], (chunks) => chunks)).toEqual([
    [500, 10],
    [5],
    [600],
    [1, 511],
    [1],
  ]);
  expect(inGroups([], () => 1)).toEqual([]);
});

test("of many that compute, one goes on in each turn of the event loop", async () => {
  let steps = 0;
  const most: number[] = [];
  const burn = (): void => {
    for (const until = performance.now() + 4.5; performance.now() < until;);
  };
  const compute = async (): Promise<void> => {
    const endOfSlice = createTimeSlice();
    for (let step = 0; step < 4; step++) {
      burn();
      steps++;
      await endOfSlice();
    }
  };
  const all = Promise.all(Array.from({ length: 8 }, compute));
  let isOver = false;
  void all.then(() => (isOver = true));
  // The first slice of each started at once.
  steps = 0;
  while (!isOver) {
    await turn();
    most.push(steps);
    steps = 0;
  }
  await all;
  expect(most.reduce((sum, count) => sum + count, 0)).toBe(24);
  expect(Math.max(...most)).toBe(1);
});

test("what cannot be cut has a turn of its own too", async () => {
  let begun = 0;
  const all = Array.from({ length: 5 }, async () => {
    await turnOfLoop();
    begun += 1;
  });
  const seen: number[] = [];
  while (begun < 5) {
    await turn();
    seen.push(begun);
  }
  await Promise.all(all);
  expect(seen.every((count, index) => count - (seen[index - 1] ?? 0) <= 1)).toBe(true);
});
