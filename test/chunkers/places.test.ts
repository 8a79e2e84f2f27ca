/** Chunks know where their words stand: in the file, and in the document's text. */

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Chunk } from "../../src/chunkers/chunk.ts";
import { CHUNKER_NAMES, chunkerNamed } from "../../src/chunkers/index.ts";
import { chunkLocations } from "../../src/domain/locations/of-chunk.ts";
import type { Spot } from "../../src/domain/locations/location.ts";
import { packPlaces, unpackPlaces } from "../../src/domain/locations/packed.ts";
import type { TextUnit } from "../../src/domain/text-unit.ts";
import { arbitraryUnits } from "../support/files/arbitrary-units.ts";
import { type PlacedWord, withPlaces } from "../support/files/placed-units.ts";
import { modelTokenizer } from "../support/files/tokenizer.ts";

const arbitraryOptions = fc
  .tuple(fc.integer({ min: 50, max: 300 }), fc.double({ min: 0, max: 0.5, noNaN: true }))
  .map(([maxTokens, share]) => ({ maxTokens, overlapTokens: Math.floor(maxTokens * share) }));

interface Word {
  readonly text: string;
  readonly row: number;
}

const wordsOf = (text: string): string[] => text.match(/\S+/g) ?? [];

const withoutBars = (words: readonly string[]): string => words.join("").replaceAll("|", "");

/** The rows of the words in the chunk, each with the text of the chunk at its place. */
const placedWords = (chunk: Chunk): Word[] =>
  unpackPlaces(chunk.places).map(({ from, to, spot }) => ({
    text: chunk.text.slice(from, to),
    row: spot.cells![1],
  }));

describe.each(CHUNKER_NAMES)("%s", (name) => {
  const chunk = chunkerNamed(name);

  test("places in a chunk have the words that the unit has there, and leave out no word", () => {
    fc.assert(
      fc.property(arbitraryUnits, arbitraryOptions, (plain, options) => {
        const { units, words } = withPlaces(plain);
        for (const made of chunk(units, options, modelTokenizer)) {
          const placed = placedWords(made);
          for (const { text, row } of placed) expect(words[row - 1]!.text).toContain(text);
          // Bars of cells that a cut row leaves empty are not from the file.
          expect(withoutBars(placed.map(({ text }) => text))).toBe(withoutBars(wordsOf(made.text)));
        }
      }),
      { numRuns: 100 },
    );
  });

  test("start and end are those of the chunk's own words in the document as Markdown", () => {
    fc.assert(
      fc.property(arbitraryUnits, arbitraryOptions, (plain, options) => {
        const { units, words } = withPlaces(plain);
        for (const made of chunk(units, options, modelTokenizer)) {
          const own = wordsBetween(words, made.start!, made.end!);
          expect(takeOut(own, placedWords(made))).toSatisfy((rest: typeof own) =>
            rest.every(({ row }) => words[row - 1]!.mayBeRepeated),
          );
        }
      }),
      { numRuns: 100 },
    );
  });
});

/** The words, or parts of them, in [start, end) of the document. */
function wordsBetween(words: readonly PlacedWord[], start: number, end: number): Word[] {
  return words.flatMap((word, index) => {
    const text = word.text.slice(Math.max(0, start - word.start), Math.max(0, end - word.start));
    return text === "" ? [] : [{ text, row: index + 1 }];
  });
}

/** What is left of `all` without `own`, whose words have to be there in their order. */
function takeOut(own: readonly Word[], all: readonly Word[]): Word[] {
  const rest: Word[] = [];
  const left = [...own];
  for (const word of all.toReversed()) {
    const last = left.at(-1);
    // An overlap may begin inside a word of the head, which is then repeated as a whole.
    if (last?.row !== word.row || !last.text.endsWith(word.text)) {
      rest.push(word);
      continue;
    }
    // A word is in two if an overlap ends inside it.
    left.pop();
    const before = last.text.slice(0, last.text.length - word.text.length);
    if (before !== "") left.push({ ...last, text: before });
  }
  expect(left).toEqual([]);
  return rest;
}

const placed = (unit: Omit<TextUnit, "page">, spot: Spot): TextUnit => ({
  ...unit,
  page: null,
  places: packPlaces([{ from: 0, to: unit.text.length, spot }])!,
});
const paragraph = (text: string, heading_path: string[], spot: Spot): TextUnit =>
  placed({ type: "paragraph", text, heading_path }, spot);

describe("locations of a chunk", () => {
  test("have the heading path of each unit, which is stored once", () => {
    const [made] = chunkerNamed("recursive")(
      [
        paragraph("Before all headings.", [], { page: 1 }),
        paragraph("Under one.", ["One"], { page: 1 }),
        paragraph("Under two.", ["One", "Two"], { page: 2 }),
      ],
      { maxTokens: 100, overlapTokens: 0 },
      modelTokenizer,
    );
    expect(chunkLocations(made!)).toEqual([
      { page: 1 },
      { page: 1, heading_path: ["One"] },
      { page: 2, heading_path: ["One", "Two"] },
    ]);
    const [alone] = chunkerNamed("recursive")(
      [paragraph("Under one.", ["One"], { page: 1 })],
      { maxTokens: 100, overlapTokens: 0 },
      modelTokenizer,
    );
    expect(alone!.places!.contexts).toEqual([{ page: 1 }]);
    expect(chunkLocations(alone!)).toEqual([{ page: 1, heading_path: ["One"] }]);
  });

  test("are absent if the parser knows no place, and say nothing of units without one", () => {
    const unplaced: TextUnit = { type: "paragraph", text: "Somewhere.", page: 1, heading_path: ["A"] };
    const options = { maxTokens: 100, overlapTokens: 0 };
    for (const name of CHUNKER_NAMES) {
      const [made] = chunkerNamed(name)([unplaced], options, modelTokenizer);
      expect(made).not.toHaveProperty("places");
      expect(made).not.toHaveProperty("start");
      expect(chunkLocations(made!)).toBeUndefined();
      const [half] = chunkerNamed(name)(
        [unplaced, paragraph("Here.", [], { lines: [3, 3] })].map((unit) => ({ ...unit, page: 1 })),
        options,
        modelTokenizer,
      );
      expect(chunkLocations(half!)).toEqual([{ lines: [3, 3] }]);
    }
  });
});
