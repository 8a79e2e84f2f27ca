/** The bounds on the cost of a search change no result of an ordinary query. */
import { expect, test, vi } from "vitest";
import fc from "fast-check";
import { analyzeQuery } from "../../src/search/text/analyzer.ts";
import { toNfkc } from "../../src/search/text/normalize.ts";
import { holdsPhrase } from "../../src/search/query.ts";
import { cutWords } from "../../src/search/text/tokens.ts";

test("NFKC is that of the platform, but for runs of marks that no writing has", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      expect(toNfkc(text)).toBe(text.normalize("NFKC"));
    }),
  );
  expect(toNfkc("e\u0301".repeat(100))).toBe("é".repeat(100));
  expect(toNfkc(`a${"\u0301".repeat(1_000)}`)).toContain("\u034f");
});

test("no run of marks that is made NFKC is longer than thirty", () => {
  const normalized = vi.spyOn(String.prototype, "normalize");
  const marks = `a${"\u0301\u0316".repeat(5_000)}`;
  cutWords(marks);
  holdsPhrase(marks, "a b");
  const given = normalized.mock.contexts.map(String);
  normalized.mockRestore();
  expect(given.length).toBeGreaterThan(0);
  expect(given.filter((text) => /\p{M}{31}/u.test(text.replaceAll("\u034f", " ")))).toEqual([]);
});

test("an address is whole if it has one @ and a dot inside what follows it", () => {
  const word = fc.constantFrom("a", "bc", "cafe\u0301");
  const name = fc.array(word, { minLength: 1, maxLength: 5 }).map((parts) => parts.join("."));
  const exact = (text: string) => cutWords(text).flatMap((token) => (token.isExact ? [token.text] : []));
  fc.assert(
    fc.property(name, word, name, (person, host, domain) => {
      const address = `${person}@${host}.${domain}`;
      expect(exact(`see ${address}, then`)).toContain(address.normalize("NFKC"));
    }),
  );
  expect(exact("ada@acme.example")).toEqual(["ada@acme.example"]);
  expect(exact("ada@acme")).toEqual([]);
  expect(exact("a@cafe\u0301.b@c")).toEqual([]);
  expect(cutWords("see http://a.example/b). Then").map(({ text }) => text)).toContain("a.example/b");
});

test("a query's words after the last that is searched for are ignored, repetitions count", () => {
  const many = Array.from(
    { length: 300 },
    (_, index) => `w${String.fromCharCode(97 + (index % 26))}${"abcdefghijkl"[Math.floor(index / 26)]}x`,
  );
  const words = analyzeQuery([...many, many[0]!, many[299]!].join(" "), ["de"]);
  expect(words).toHaveLength(256);
  expect(words[0]!.weight).toBe(2);
});
