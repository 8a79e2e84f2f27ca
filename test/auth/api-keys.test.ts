import { describe, expect, it } from "vitest";
import { createKeyText, hashKey, isWellFormedKey, keyPrefix } from "../../src/auth/api-keys.ts";

describe("keys that Holdfast creates", () => {
  it("are sk-, 43 base62 characters and a checksum of 6, and never twice the same", () => {
    const texts = Array.from({ length: 500 }, createKeyText);
    for (const text of texts) {
      expect(text).toMatch(/^sk-[0-9A-Za-z]{49}$/);
      expect(isWellFormedKey(text)).toBe(true);
    }
    expect(new Set(texts).size).toBe(500);
  });

  it("are refused when any one character is changed", () => {
    const text = createKeyText();
    for (let index = 3; index < text.length; index += 1) {
      const other = text[index] === "x" ? "y" : "x";
      expect(isWellFormedKey(text.slice(0, index) + other + text.slice(index + 1))).toBe(false);
    }
  });
});

describe("keys that somebody chose", () => {
  it.each([
    ["32 characters", `sk-${"a".repeat(29)}`, true],
    ["31 characters", `sk-${"a".repeat(28)}`, false],
    ["another beginning", `pk-${"a".repeat(40)}`, false],
    ["a space inside", `sk-${"a".repeat(20)} ${"a".repeat(20)}`, false],
    ["a line break at the end", `sk-${"a".repeat(40)}\n`, false],
    ["letters beyond ASCII", `sk-${"é".repeat(40)}`, false],
    ["the length of a created key without its checksum", `sk-${"a".repeat(49)}`, false],
    ["one more than a created key", `sk-${"a".repeat(50)}`, true],
    ["a megabyte", `sk-${"a".repeat(1_000_000)}`, false],
  ])("%s: %#", (_what, text, expected) => {
    expect(isWellFormedKey(text)).toBe(expected);
  });
});

describe("what is stored of a key", () => {
  it("depends on the pepper and tells nothing without it", () => {
    const text = createKeyText();
    const hash = hashKey(Buffer.alloc(32, 1), text);
    expect(hash).toHaveLength(32);
    expect(hash.equals(hashKey(Buffer.alloc(32, 1), text))).toBe(true);
    expect(hash.equals(hashKey(Buffer.alloc(32, 2), text))).toBe(false);
    expect(keyPrefix(text)).toBe(text.slice(0, 8));
  });
});
