import fc from "fast-check";
import { expect, test } from "vitest";
import { holdsPhrase, parseQuery } from "../../src/search/query.ts";

test("phrases and exclusions are read and leave the text", () => {
  expect(parseQuery('cell "cell wall" -plant -"green leaf" growth')).toEqual({
    text: "cell  cell wall      growth",
    phrases: ["cell wall"],
    excludedWords: ["plant"],
    excludedPhrases: ["green leaf"],
  });
});

test.each([
  "3 - 2",
  "-5 degrees",
  "state-of-the-art",
  'an open " quote',
  "--verbose",
  "„the name“ of it",
  "-only -exclusions",
  "",
  '""',
  "- item",
])("%j has no operator", (query) => {
  const { phrases, excludedWords, excludedPhrases } = parseQuery(query);
  expect([phrases, excludedWords, excludedPhrases]).toEqual([[], [], []]);
});

test("no text breaks the parser, and something to look for always stays", () => {
  const hasWord = (text: string): boolean => /[\p{L}\p{N}]/u.test(text);
  const broken = fc.check(
    fc.property(
      fc.oneof(
        fc.string({ unit: "binary" }),
        fc
          .array(fc.constantFrom('"', "-", " ", "a", "-a", '"a b"', "\0", "\ud800"))
          .map((parts) => parts.join("")),
      ),
      (query) => {
        return hasWord(parseQuery(query).text) === hasWord(query);
      },
    ),
  );
  expect(broken).toMatchObject({ failed: false });
});

test("a phrase is held whatever the case and the white space", () => {
  expect(holdsPhrase("The Cell\n  Wall.", "cell wall")).toBe(true);
  expect(holdsPhrase("The wall of the cell", "cell wall")).toBe(false);
});

test.each([
  'Who wrote "War and Peace"?',
  'Who wrote "War and Peace" -film ?',
  'من كتب "الحرب والسلام"؟',
  '谁写了 "战争与和平"？',
  'Ποιος έγραψε "Πόλεμος και Ειρήνη"\u037e',
  '"ጦርነትና ሰላም" ማን ጻፈው፧',
  'Who wrote "War and Peace"⁉',
])("a question quotes and never filters: %s", (query) => {
  expect(parseQuery(query)).toEqual({ text: query, phrases: [], excludedWords: [], excludedPhrases: [] });
  expect(parseQuery(query.replace(/\s*[?؟？⁉፧\u037e]$/u, "")).phrases).toHaveLength(1);
});
