import { afterEach, expect, test } from "vitest";
import { createStateWatch, type StateWatch } from "../../../src/api/waits/state-watch.ts";
import type { Watched } from "../../../src/db/runs/states.ts";
import { until } from "../../support/until.ts";

const RUN: Watched = { kind: "run", id: "a" };
const forever = { timeoutMs: 60_000, signal: new AbortController().signal };

let states: Map<string, string>;
let looks: Watched[][];
let failures: unknown[];
let failing: Error | undefined;
let watch: StateWatch;

function open(): void {
  states = new Map([
    ["a", "queued"],
    ["b", "running"],
  ]);
  looks = [];
  failures = [];
  failing = undefined;
  watch = createStateWatch({
    readStates: async (watched) => {
      looks.push([...watched]);
      if (failing !== undefined) throw failing;
      return states;
    },
    lookEveryMs: 5,
    onFailure: (error) => failures.push(error),
  });
}
afterEach(() => watch.close());

test("a wait ends as soon as the state is another one", async () => {
  open();
  let hasEnded = false;
  const waiting = watch.changed(RUN, "queued", forever).then(() => (hasEnded = true));
  await until("it has looked", () => looks.length > 2);
  expect(hasEnded).toBe(false);
  states.set("a", "parsing");
  await waiting;
});

test("what does not exist any more has changed", async () => {
  open();
  states.delete("a");
  await expect(watch.changed(RUN, "queued", forever)).resolves.toBeUndefined();
});

test("all who wait share one look, which names each once; nobody looks without them", async () => {
  open();
  const leave = new AbortController();
  const within = { timeoutMs: 60_000, signal: leave.signal };
  const waits = [RUN, RUN, { kind: "batch", id: "b" } as const].map((watched) =>
    watch.changed(watched, states.get(watched.id)!, within),
  );
  await until("it has looked", () => looks.length > 2);
  expect(looks[0]).toEqual([RUN, { kind: "batch", id: "b" }]);
  leave.abort();
  await Promise.all(waits);
  const count = looks.length;
  await new Promise((resume) => setTimeout(resume, 30));
  expect(looks.length).toBeLessThanOrEqual(count + 1);
});

test("a wait ends with its time, with its client, and with the process", async () => {
  open();
  await watch.changed(RUN, "queued", { ...forever, timeoutMs: 10 });
  await watch.changed(RUN, "queued", { ...forever, signal: AbortSignal.abort() });
  const waiting = watch.changed(RUN, "queued", forever);
  watch.drain();
  await waiting;
  await expect(watch.changed(RUN, "queued", forever)).resolves.toBeUndefined();
});

test("looks that fail are told once, and the wait goes on", async () => {
  open();
  failing = new Error("away");
  const waiting = watch.changed(RUN, "queued", forever);
  await until("it has failed twice", () => looks.length > 2);
  expect(failures).toEqual([failing]);
  failing = undefined;
  states.set("a", "failed");
  await waiting;
});
