import { expect, test } from "vitest";
import { createSlots } from "../../../src/process/concurrency/slots.ts";

/** Calls that run until the test ends them. @returns who runs, and what ends the oldest call of an owner. */
function startCalls(bounds: Parameters<typeof createSlots>[0], owners: string) {
  const slots = createSlots(bounds);
  const running: { owner: string; end: () => void }[] = [];
  const calls = Array.from(owners).map((owner) =>
    slots.run(owner, () => new Promise<void>((end) => running.push({ owner, end }))),
  );
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  return {
    running: async () => (await settled(), running.map(({ owner }) => owner).join("")),
    end: (owner: string) =>
      running
        .splice(
          running.findIndex((call) => call.owner === owner),
          1,
        )[0]!
        .end(),
    all: Promise.all(calls),
  };
}

test("an owner takes only its part, however many calls it makes", async () => {
  const calls = startCalls({ atOnce: 4, ofOwner: 2 }, "aaaaaab");
  expect(await calls.running()).toBe("aab");
  calls.end("a");
  expect(await calls.running()).toBe("aba");
});

test("owners that wait take turns, whoever waits longer", async () => {
  const calls = startCalls({ atOnce: 2, ofOwner: 2 }, "aaaabb");
  const order = [];
  for (let ended = 0; ended < 6; ended += 1) {
    const running = await calls.running();
    order.push(running);
    calls.end(running[0]!);
  }
  expect(order).toEqual(["aa", "aa", "ab", "ba", "ab", "b"]);
  await calls.all;
});
