import { expect, test } from "vitest";
import { createGate } from "../../../src/process/concurrency/gate.ts";

test("no more than the places run at once, and those who wait go in the order they came", async () => {
  const gate = createGate({ places: 2, maxWaitMs: 5_000 });
  let running = 0;
  let most = 0;
  const order: number[] = [];
  await Promise.all(
    Array.from({ length: 12 }, (_, at) =>
      gate(async () => {
        order.push(at);
        most = Math.max(most, ++running);
        await new Promise(setImmediate);
        running -= 1;
      }),
    ),
  );
  expect(most).toBe(2);
  expect(order).toEqual(order.toSorted((one, other) => one - other));
});

test("a wait that is too long fails, an aborted one leaves no trace, a failure frees its place", async () => {
  const gate = createGate({ places: 1, maxWaitMs: 20 });
  const held = Promise.withResolvers<void>();
  const first = gate(() => held.promise);
  await expect(gate(async () => 1)).rejects.toMatchObject({ code: "overloaded" });
  const leaving = new AbortController();
  const gone = gate(async () => 2, leaving.signal);
  leaving.abort(new Error("gone"));
  await expect(gone).rejects.toThrow("gone");
  held.reject(new Error("broken"));
  await expect(first).rejects.toThrow("broken");
  expect(await gate(async () => 3)).toBe(3);
});
