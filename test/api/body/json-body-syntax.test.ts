import { expect, test } from "vitest";
import fc from "fast-check";
import { firstSyntaxError } from "../../../src/api/body/json-body-syntax.ts";

test.each([
  ['{"a":', 5, "Expecting value"],
  ["x", 0, "Expecting value"],
  ["", 0, "Expecting value"],
  ['{"a":1,}', 7, "Expecting property name enclosed in double quotes"],
  ['{"a" 1}', 5, "Expecting ':' delimiter"],
  ["[1 2]", 3, "Expecting ',' delimiter"],
  ["[1,]", 3, "Expecting value"],
  ['{"a":1} x', 8, "Extra data"],
  ['["abc', 1, "Unterminated string starting at"],
  ['["a\nb"]', 3, "Invalid control character at"],
  ['["\\x"]', 2, "Invalid \\escape"],
  ['["\\u12"]', 2, "Invalid \\uXXXX escape"],
  ["01", 1, "Extra data"],
])("%j breaks at %i: %s", (text, position, error) => {
  expect(firstSyntaxError(text)).toEqual({ position, error });
});

test("any JSON that is cut off breaks within its length", () => {
  fc.assert(
    fc.property(fc.json(), fc.nat(), (json, cut) => {
      const text = json.slice(0, cut % Math.max(1, json.length));
      expect(isJson(text) ? 0 : firstSyntaxError(text).position).toBeLessThanOrEqual(text.length);
    }),
  );
});

test("nesting of a million levels is scanned without a stack overflow", () => {
  expect(firstSyntaxError("[".repeat(1_000_000))).toEqual({ position: 1_000_000, error: "Expecting value" });
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
