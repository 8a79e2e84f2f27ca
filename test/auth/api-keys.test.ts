import { readFileSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { describe, expect, it } from "vitest";
import { createKeyText, hashKey, isWellFormedKey, keyPrefix, keysIn } from "../../src/auth/api-keys.ts";

describe("keys that Holdfast creates", () => {
  it("are sk-hf-, 43 base62 characters and a checksum of 6, and never twice the same", () => {
    const texts = Array.from({ length: 500 }, createKeyText);
    for (const text of texts) {
      expect(text).toMatch(/^sk-hf-[0-9A-Za-z]{49}$/);
      expect(isWellFormedKey(text)).toBe(true);
    }
    expect(new Set(texts).size).toBe(500);
  });

  it("are refused when any one character is changed", () => {
    const text = createKeyText();
    for (let index = 6; index < text.length; index += 1) {
      const other = text[index] === "x" ? "y" : "x";
      expect(isWellFormedKey(text.slice(0, index) + other + text.slice(index + 1))).toBe(false);
    }
  });
});

describe("keys as somebody finds them", () => {
  const text = createKeyText();
  const old = `sk-${"a".repeat(43)}${checksumOf(`sk-${"a".repeat(43)}`)}`;
  const chosen = `sk-${"c".repeat(40)}`;
  it.each([
    ["in a header", `Bearer ${text}`, [text]],
    ["in quotes", `"${text}",\r\n`, [text]],
    ["in a URL", `https://holdfast.example/v1/data?key=${text}&page=2`, [text]],
    ["with NUL and half of a surrogate pair around it", `\ud800${text}\0`, [text]],
    ["several, with one of before", `${text} x=${old};${text}`, [text, old]],
    ["one that somebody chose", ` 'Bearer ${chosen}',\n`, [chosen]],
    ["with commas inside, as somebody chose it", `${chosen},x\r\n`, [`${chosen},x`, chosen]],
    ["with a wrong checksum", `${text.slice(0, -1)}-`, []],
    ["none", "sk-hf-…", []],
  ])("are taken out of what stands around them: %s", (_where, found, keys) => {
    expect(keysIn(found).toSorted()).toEqual(keys.toSorted());
  });

  it("take time in proportion to the text", () => {
    const took = (found: string): number => {
      const before = performance.now();
      keysIn(found);
      return performance.now() - before;
    };
    for (const part of ["sk-hf-", "sk-", "sk-hf-0", `sk-hf-${"a".repeat(48)}-`])
      expect(took(part.repeat(100_000))).toBeLessThan(2_000);
  });
});

describe("keys that versions before made", () => {
  it("are well formed with their checksum, and shown by as much as before", () => {
    const text = `sk-${"a".repeat(43)}${checksumOf(`sk-${"a".repeat(43)}`)}`;
    expect(isWellFormedKey(text)).toBe(true);
    expect(keyPrefix(text)).toBe(text.slice(0, 8));
    expect(isWellFormedKey(`${text.slice(0, -1)}${text.endsWith("a") ? "b" : "a"}`)).toBe(false);
  });
});

describe("what SECURITY.md tells secret scanners", () => {
  const security = readFileSync(join(import.meta.dirname, "../../SECURITY.md"), "utf8");
  const [, pattern = ""] = /^ {4}(sk-hf-\[.*)$/m.exec(security) ?? [];
  const [, example = ""] = /`(sk-hf-[0-9A-Za-z]{49})`/.exec(security) ?? [];

  it("is a pattern of every key that is made", () => {
    for (const text of Array.from({ length: 100 }, createKeyText))
      expect(text).toMatch(new RegExp(`^${pattern}$`));
  });

  it("is a checksum that a program written from its words finds", () => {
    expect(isWellFormedKey(example)).toBe(true);
    expect(checksumOf(example.slice(0, -6))).toBe(example.slice(-6));
    expect(security).toContain(`\`${example.slice(-6)}\``);
    expect(security).toContain(`\`${crc32(example.slice(0, -6)).toString(16).padStart(8, "0")}\``);
  });
});

/** Follows what SECURITY.md says of key texts, without the code under test. */
function checksumOf(body: string): string {
  const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  let rest = crc32(body);
  let text = "";
  for (let index = 0; index < 6; index += 1) {
    text = digits[rest % 62]! + text;
    rest = Math.floor(rest / 62);
  }
  return text;
}

describe("keys that somebody chose", () => {
  it.each([
    ["32 characters", `sk-${"a".repeat(29)}`, true],
    ["31 characters", `sk-${"a".repeat(28)}`, false],
    ["another beginning", `pk-${"a".repeat(40)}`, false],
    ["a space inside", `sk-${"a".repeat(20)} ${"a".repeat(20)}`, false],
    ["a line break at the end", `sk-${"a".repeat(40)}\n`, false],
    ["letters beyond ASCII", `sk-${"é".repeat(40)}`, false],
    ["the length of a key of before without its checksum", `sk-${"a".repeat(49)}`, false],
    ["the length of a new key without its beginning", `sk-${"a".repeat(52)}`, true],
    ["the beginning and length of a new key without its checksum", `sk-hf-${"a".repeat(49)}`, false],
    ["the beginning of a new key at another length", `sk-hf-${"a".repeat(50)}`, true],
    ["one more than a key of before", `sk-${"a".repeat(50)}`, true],
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
    expect(keyPrefix(text)).toBe(text.slice(0, 12));
  });
});
