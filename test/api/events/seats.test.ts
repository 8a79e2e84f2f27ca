import { expect, test } from "vitest";
import { createEventSeats } from "../../../src/api/events/seats.ts";
import type { Principal } from "../../../src/domain/tenancy/principal.ts";

const caller = (userId: string, apiKeyId: string | null = null): Principal =>
  ({ user: { id: userId }, apiKeyId }) as Principal;

test("a seat that is given back twice is free once", () => {
  const seats = createEventSeats(2);
  const leave = seats.take(caller("ada"), "stream");
  seats.take(caller("bob"), "wait");
  leave();
  leave();
  expect(seats.counts()).toEqual({ stream: 0, wait: 1 });

  seats.take(caller("ada"), "stream");

  expect(() => seats.take(caller("eve"), "stream")).toThrow("at most 2");
});

test("a refusal takes no seat of anybody", () => {
  const seats = createEventSeats(100);
  const take = (key: string) => seats.take(caller("ada", key), "stream");
  for (let count = 0; count < 10; count += 1) take("first");
  for (let count = 0; count < 5; count += 1) expect(() => take("first")).toThrow("at most 10");

  for (let count = 0; count < 10; count += 1) take("second");

  expect(() => take("third")).toThrow("at most 20");
  expect(seats.counts()).toEqual({ stream: 20, wait: 0 });
});
