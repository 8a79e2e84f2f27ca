import { expect, test } from "vitest";
import { deliveryWaitMs, endpointWaitMs } from "../../../src/domain/events/delivery-waits.ts";

test("waits grow from 5 s to 8 h", () => {
  const waits = Array.from({ length: 10 }, (_, index) => deliveryWaitMs(index + 1, null, 0) / 1_000);
  expect(waits).toEqual([5, 30, 120, 600, 1_800, 3_600, 7_200, 14_400, 28_800, 28_800]);
});

test("a wait is up to a fifth longer, and never shorter than the receiver asked for, up to 8 h", () => {
  expect(deliveryWaitMs(1, null, 1)).toBe(6_000);
  expect(deliveryWaitMs(1, 60_000, 0)).toBe(60_000);
  expect(deliveryWaitMs(3, 60_000, 0)).toBe(120_000);
  expect(deliveryWaitMs(1, 7 * 24 * 3_600_000, 0)).toBe(28_800_000);
});

test("an endpoint waits as a whole for 10 minutes at most, and longer only if its receiver asks for it", () => {
  const waits = Array.from({ length: 6 }, (_, index) => endpointWaitMs(index + 1, null, 0) / 1_000);
  expect(waits).toEqual([5, 30, 120, 600, 600, 600]);
  expect(endpointWaitMs(6, 3_600_000, 0)).toBe(3_600_000);
});
