import { expect, test } from "vitest";
import { mergePatch } from "../../src/domain/merge-patch.ts";

/** The test table of RFC 7396, appendix A, for targets and patches that are objects. */
test.each<[Record<string, unknown>, Record<string, unknown>, Record<string, unknown>]>([
  [{ a: "b" }, { a: "c" }, { a: "c" }],
  [{ a: "b" }, { b: "c" }, { a: "b", b: "c" }],
  [{ a: "b" }, { a: null }, {}],
  [{ a: "b", b: "c" }, { a: null }, { b: "c" }],
  [{ a: ["b"] }, { a: "c" }, { a: "c" }],
  [{ a: "c" }, { a: ["b"] }, { a: ["b"] }],
  [{ a: { b: "c" } }, { a: { b: "d", c: null } }, { a: { b: "d" } }],
  [{ a: [{ b: "c" }] }, { a: [1] }, { a: [1] }],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
])("%j patched with %j is %j", (target, patch, expected) => {
  const before = JSON.stringify(target);
  expect(mergePatch(target, patch)).toEqual(expected);
  expect(JSON.stringify(target)).toBe(before);
});

test("no key reaches a prototype", () => {
  const patch = JSON.parse(
    '{"__proto__": {"polluted": true}, "constructor": {"prototype": {"polluted": true}}}',
  ) as Record<string, unknown>;
  const merged = mergePatch({}, patch);
  expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  expect(Object.getPrototypeOf(merged)).toBe(Object.prototype);
  expect(JSON.stringify(merged)).toBe(JSON.stringify(patch));
});
