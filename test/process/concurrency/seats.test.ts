import { expect, test } from "vitest";
import { createSeats } from "../../../src/process/concurrency/seats.ts";
import type { Principal } from "../../../src/domain/tenancy/principal.ts";

const caller = (user: string, organization = "acme"): Principal =>
  ({ user: { id: user }, organization: { id: organization }, apiKeyId: null }) as Principal;

const makeSeats = () =>
  createSeats({
    kinds: ["file"],
    most: { user: 2, organization: 3, process: 4 },
    of: "files",
    refusal: "Too many files",
    retryAfterSeconds: 5,
  });

test("a user, an organization and the process have their own bounds, and the refusal names whose it is", () => {
  const seats = makeSeats();
  const leave = seats.take(caller("ada"), "file");
  seats.take(caller("ada"), "file");
  const refused = (who: Principal): unknown => {
    try {
      seats.take(who, "file");
    } catch (error) {
      return error;
    }
    return undefined;
  };
  const refusal = { reason: "too_many_open", status: 429, retryAfterSeconds: 5 };
  expect(refused(caller("ada"))).toMatchObject({ ...refusal, budget: { name: "user-files", quota: 2 } });
  expect(refused(caller("bob"))).toBeUndefined();
  expect(refused(caller("cyd"))).toMatchObject({
    ...refusal,
    budget: { name: "organization-files", quota: 3 },
  });
  expect(refused(caller("rob", "rival"))).toBeUndefined();
  expect(refused(caller("sue", "other"))).toMatchObject({
    ...refusal,
    budget: { name: "process-files", quota: 4 },
  });
  leave();
  expect(refused(caller("sue", "other"))).toBeUndefined();
});

test("what weighs more takes as many seats, or none of them", () => {
  const seats = makeSeats();
  const leave = seats.take(caller("ada"), "file", 2);
  expect(seats.counts()).toEqual({ file: 2 });
  expect(() => seats.take(caller("bob"), "file", 2)).toThrow("Too many files: at most 3");
  expect(seats.counts()).toEqual({ file: 2 });
  leave();
  leave();
  expect(seats.counts()).toEqual({ file: 0 });
});
