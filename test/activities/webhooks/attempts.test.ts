/** The order and the bounds of the attempts of a batch. */
import { expect, test } from "vitest";
import { attemptAll } from "../../../src/activities/webhooks/attempts.ts";
import type { DueDelivery } from "../../../src/db/webhooks/delivery/due.ts";
import type { Outcome } from "../../../src/db/webhooks/delivery/outcomes.ts";

const due = (resourceId: string | null, eventNum: number): DueDelivery => ({
  id: `delivery ${eventNum}`,
  eventNum,
  resourceId,
  attempts: 0,
  event: null,
  skippedFor: null,
});
const many = (count: number): DueDelivery[] =>
  Array.from({ length: count }, (_, index) => due(`resource ${index}`, index));
const outcome = ({ id, attempts }: DueDelivery, result: Outcome["result"]): Outcome => ({
  deliveryId: id,
  attempts,
  result,
  code: result === "delivered" ? null : "status_500",
  httpStatus: null,
  retryAfterMs: null,
  durationMs: 1,
});
const never = (): boolean => false;

test("events of a resource go in the log's order, one after the other, whatever came of the one before", async () => {
  const sent: number[] = [];
  const open = new Set<string | null>();
  const send = async (delivery: DueDelivery): Promise<Outcome> => {
    expect(open).not.toContain(delivery.resourceId);
    open.add(delivery.resourceId);
    await new Promise((resolve) => setImmediate(resolve));
    open.delete(delivery.resourceId);
    sent.push(delivery.eventNum);
    return outcome(delivery, delivery.eventNum === 1 ? "failed" : "delivered");
  };
  await attemptAll([due("a", 3), due("b", 2), due("a", 1), due("b", 4)], { send, isOver: never });
  expect(sent.filter((num) => num % 2 === 1)).toEqual([1, 3]);
  expect(sent.filter((num) => num % 2 === 0)).toEqual([2, 4]);
});

test("at most 32 go side by side, and as many do while all succeed", async () => {
  let open = 0;
  let most = 0;
  const send = async (delivery: DueDelivery): Promise<Outcome> => {
    open += 1;
    most = Math.max(most, open);
    await new Promise((resolve) => setImmediate(resolve));
    open -= 1;
    return outcome(delivery, "delivered");
  };
  expect(await attemptAll(many(300), { send, isOver: never })).toHaveLength(300);
  expect(most).toBe(32);
});

test("a receiver that fails every first attempt is asked a few times and no more", async () => {
  const outcomes = await attemptAll(many(100), {
    send: async (delivery) => outcome(delivery, "failed"),
    isOver: never,
  });
  expect(outcomes.length).toBeLessThan(8);
});

test("a receiver of which one attempt succeeded is asked for all", async () => {
  const outcomes = await attemptAll(many(100), {
    send: async (delivery) => outcome(delivery, delivery.eventNum === 0 ? "delivered" : "failed"),
    isOver: never,
  });
  expect(outcomes).toHaveLength(100);
});

test("no attempt begins after the time is over", async () => {
  let sent = 0;
  const outcomes = await attemptAll(many(100), {
    send: async (delivery) => {
      sent += 1;
      return outcome(delivery, "delivered");
    },
    isOver: () => sent >= 10,
  });
  expect(outcomes).toHaveLength(10);
});
