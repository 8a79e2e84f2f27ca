/** The order in which organizations and users that wait for the same resource are served. */
import { expect, test } from "vitest";
import { OLDEST_EVERY, type Owner, createFairQueue } from "../../../src/process/concurrency/fair-queue.ts";

interface Piece {
  readonly name: string;
  readonly owner: Owner;
  readonly size: number;
}

const owner = (organizationId: string, userId: string | null = "user"): Owner => ({ organizationId, userId });
const piece = (name: string, of: Owner, size = 1): Piece => ({ name, owner: of, size });
const many = (count: number, name: string, of: Owner, size = 1): Piece[] =>
  Array.from({ length: count }, (_, at) => piece(`${name}${at}`, of, size));

/** Takes `count` pieces, each of which costs its size, and returns whose they were. */
function takeAll(queue: ReturnType<typeof createFairQueue<Piece>>, count: number): string[] {
  return Array.from({ length: count }, () => {
    const next = queue.take();
    if (next !== undefined) queue.charge(next.owner, next.size);
    return next?.name ?? "nothing";
  });
}

function queueOf(...pieces: Piece[]) {
  const queue = createFairQueue<Piece>();
  for (const one of pieces) queue.add(one);
  return queue;
}

test("a single piece of one user comes right after the first of another's thousands", () => {
  const queue = queueOf(...many(3_600, "a", owner("acme", "ann")), piece("bob's", owner("acme", "bob")));
  expect(takeAll(queue, 2)).toContain("bob's");
});

test("organizations have equal time, however many pieces and users each has", () => {
  const queue = queueOf(
    ...many(100, "a", owner("acme", "ann")),
    ...many(100, "b", owner("acme", "bob")),
    ...many(100, "r", owner("rival", "rex")),
  );
  const taken = takeAll(queue, 60);
  expect(taken.filter((name) => name.startsWith("r"))).toHaveLength(30);
  expect(taken.filter((name) => name.startsWith("a"))).toHaveLength(15);
});

test("an organization of slow pieces has fewer of them, not more time", () => {
  const queue = queueOf(...many(100, "slow", owner("acme"), 10), ...many(100, "quick", owner("rival"), 1));
  const taken = takeAll(queue, 55);
  expect(taken.filter((name) => name.startsWith("slow")).length).toBeLessThanOrEqual(6);
});

test("small pieces of a user pass large ones, and large ones get every fourth turn", () => {
  const queue = queueOf(...many(10, "large", owner("acme"), 100), ...many(40, "small", owner("acme"), 1));
  const taken = takeAll(queue, 4 * OLDEST_EVERY);
  expect(taken[0]).toBe("small0");
  expect(taken.filter((name) => name.startsWith("large"))).toEqual(["large0", "large1", "large2", "large3"]);
});

test("who was away does not catch up on the time that it did not ask for", () => {
  const queue = queueOf(...many(1_000, "a", owner("acme")));
  takeAll(queue, 500);
  for (const one of many(1_000, "r", owner("rival"))) queue.add(one);
  expect(takeAll(queue, 100).filter((name) => name.startsWith("a")).length).toBeGreaterThanOrEqual(49);
});

test("what may not be taken yet is passed over, and stays", () => {
  const queue = queueOf(piece("large", owner("acme"), 100), piece("small", owner("rival"), 1));
  expect(queue.take((one) => one.size < 10)?.name).toBe("small");
  expect(queue.take((one) => one.size < 10)).toBeUndefined();
  expect(queue).toHaveLength(1);
  expect(queue.take()?.name).toBe("large");
});

test("what has left the queue is not taken", () => {
  const gone = piece("gone", owner("acme"));
  const queue = queueOf(gone);
  expect(queue.remove(gone)).toBe(true);
  expect(queue.take()).toBeUndefined();
  expect(queue.remove(gone)).toBe(false);
});
