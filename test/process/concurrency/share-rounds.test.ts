import { expect, test } from "vitest";
import { shareRounds } from "../../../src/process/concurrency/share-rounds.ts";

/** Rounds that a test ends one by one. */
function heldRounds() {
  const rounds: PromiseWithResolvers<void>[] = [];
  const run = shareRounds(() => {
    const round = Promise.withResolvers<void>();
    rounds.push(round);
    return round.promise;
  });
  return { run, rounds };
}

test("calls that come during a round share the next one", async () => {
  const { run, rounds } = heldRounds();
  const first = run();
  const second = run();
  const third = run();
  expect(rounds).toHaveLength(1);

  rounds[0]!.resolve();
  await first;
  await expect.poll(() => rounds.length).toBe(2);
  rounds[1]!.resolve();
  await Promise.all([second, third]);

  expect(rounds).toHaveLength(2);
});

test("a call after the last round begins one at once", async () => {
  const { run, rounds } = heldRounds();
  const first = run();
  rounds[0]!.resolve();
  await first;

  void run();

  expect(rounds).toHaveLength(2);
});

test("a round that fails is an error only to those who share it", async () => {
  const { run, rounds } = heldRounds();
  const failed = run();
  const next = run();
  rounds[0]!.reject(new Error("away"));
  await expect(failed).rejects.toThrow("away");

  await expect.poll(() => rounds.length).toBe(2);
  rounds[1]!.resolve();

  await expect(next).resolves.toBeUndefined();
});

test("calls that come during a shared round get the one after it", async () => {
  const { run, rounds } = heldRounds();
  void run();
  const second = run();
  rounds[0]!.resolve();
  await expect.poll(() => rounds.length).toBe(2);

  const third = run();
  rounds[1]!.resolve();
  await second;

  await expect.poll(() => rounds.length).toBe(3);
  rounds[2]!.resolve();
  await expect(third).resolves.toBeUndefined();
});
