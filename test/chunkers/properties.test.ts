/** Properties of every chunker, for random documents. */

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CHUNKER_NAMES, chunkerNamed } from "../../src/chunkers/index.ts";
import type { Chunk, ChunkOptions } from "../../src/chunkers/chunk.ts";
import type { TextUnit } from "../../src/domain/text-unit.ts";
import { arbitraryUnits } from "../support/files/arbitrary-units.ts";
import { modelTokenizer } from "../support/files/tokenizer.ts";

const arbitraryOptions: fc.Arbitrary<ChunkOptions> = fc
  .tuple(fc.integer({ min: 50, max: 300 }), fc.double({ min: 0, max: 0.5, noNaN: true }))
  .map(([maxTokens, share]) => ({ maxTokens, overlapTokens: Math.floor(maxTokens * share) }));
const withoutOverlap = arbitraryOptions.map(({ maxTokens }) => ({ maxTokens, overlapTokens: 0 }));

const written = (text: string): string => text.replace(/\s+/g, "");
const visible = (units: readonly TextUnit[]): readonly TextUnit[] =>
  units.filter((unit) => modelTokenizer.countTokens(unit.text) > 0);

/**
 * Chunks' text without what a chunker repeats: a table's head before rows that were cut from it, and then the
 * first cell of a row that was cut inside.
 */
function withoutRepeatedHeads(chunks: readonly Chunk[], units: readonly TextUnit[]): string {
  const expected = written(
    visible(units)
      .map((unit) => unit.text)
      .join(""),
  );
  const tables = units.filter((unit) => unit.type === "table").map((unit) => unit.text.split("\n"));
  const repeated = tables.flatMap(([names = "", dashes = "", ...rows]) => {
    const head = written(names + dashes);
    const cells = new Set(rows.map((row) => written(/^\|(?:[^\\|]|\\.)*\|/su.exec(row)?.[0] ?? "")));
    const columns = dashes.split("|").length;
    const bars = Array.from({ length: columns }, (_, count) => "|".repeat(count));
    return [head, `${head}|`, ...[...cells].flatMap((cell) => bars.map((bar) => head + cell + bar))];
  });
  let out = "";
  for (const chunk of chunks) {
    const text = written(chunk.text);
    const head = ["", ...repeated].find(
      (candidate) => text.startsWith(candidate) && expected.startsWith(out + text.slice(candidate.length)),
    );
    out += head === undefined ? text : text.slice(head.length);
  }
  return out;
}

/** Code blocks and table rows (with the table's head before them) that fit into `room` tokens. */
function wholeParts(unit: TextUnit, room: number): string[] {
  const fits = (text: string): boolean => modelTokenizer.countTokens(text) <= room;
  if (unit.type === "code") return fits(unit.text) ? [unit.text] : [];
  if (unit.type !== "table") return [];
  const lines = unit.text.split("\n");
  return lines.filter((line) => fits([...lines.slice(0, 2), line].join("\n")));
}

describe.each(CHUNKER_NAMES)("%s", (name) => {
  const chunk = chunkerNamed(name);

  test("puts every written character of the text into a chunk, once and in order", () => {
    fc.assert(
      fc.property(arbitraryUnits, withoutOverlap, (units, options) => {
        const chunks = chunk(units, options, modelTokenizer);
        expect(withoutRepeatedHeads(chunks, units)).toBe(
          written(
            visible(units)
              .map((unit) => unit.text)
              .join(""),
          ),
        );
      }),
      { numRuns: 150 },
    );
  });

  test("keeps to the size by the model's own tokenizer, and counts it right", () => {
    fc.assert(
      fc.property(arbitraryUnits, arbitraryOptions, (units, options) => {
        for (const made of chunk(units, options, modelTokenizer)) {
          expect(made.token_count).toBe(modelTokenizer.countTokens(made.text));
          expect(made.token_count).toBeGreaterThan(0);
          expect(made.token_count).toBeLessThanOrEqual(options.maxTokens);
        }
      }),
      { numRuns: 150 },
    );
  });

  test("cuts no table row and no code block that fits into a chunk", () => {
    fc.assert(
      fc.property(arbitraryUnits, arbitraryOptions, (units, options) => {
        const chunks = chunk(units, options, modelTokenizer);
        const whole = units.flatMap((unit) => wholeParts(unit, options.maxTokens - options.overlapTokens));
        expect(whole.filter((part) => !chunks.some((made) => made.text.includes(part)))).toEqual([]);
      }),
      { numRuns: 100 },
    );
  });

  test("gives the same chunks each time, and pages that ascend", () => {
    fc.assert(
      fc.property(arbitraryUnits, arbitraryOptions, (units, options) => {
        const chunks = chunk(units, options, modelTokenizer);
        expect(chunk(units, options, modelTokenizer)).toEqual(chunks);
        let last = 0;
        for (const made of chunks) {
          expect(made.page_end ?? 0).toBeGreaterThanOrEqual(made.page_start ?? 0);
          expect(made.page_end ?? 0).toBeGreaterThanOrEqual(last);
          last = made.page_end ?? 0;
        }
      }),
      { numRuns: 50 },
    );
  });
});

test("fixed_tokens repeats exactly the overlap's tokens", () => {
  const text = Array.from({ length: 400 }, (_, index) => `word ${index} and`).join(" ");
  const units: TextUnit[] = [{ type: "paragraph", text, page: null, heading_path: [] }];
  const starts = modelTokenizer.tokenOffsets(text).map(([start]) => start);
  const overlaps: number[] = [];
  let previousEnd = 0;
  for (const made of chunkerNamed("fixed_tokens")(
    units,
    { maxTokens: 100, overlapTokens: 30 },
    modelTokenizer,
  )) {
    const from = text.indexOf(made.text);
    const first = starts.filter((start) => start < from).length;
    overlaps.push(previousEnd - first);
    previousEnd = starts.filter((start) => start < from + made.text.length).length;
  }
  expect(previousEnd).toBe(starts.length);
  expect(new Set(overlaps.slice(1))).toEqual(new Set([30]));
});

test("other chunkers repeat at most the overlap's tokens, whole words of the chunk before", () => {
  fc.assert(
    fc.property(arbitraryUnits, (units) => {
      const options = { maxTokens: 80, overlapTokens: 20 };
      const plain = chunkerNamed("recursive")(units, { maxTokens: 60, overlapTokens: 0 }, modelTokenizer);
      const repeated = chunkerNamed("recursive")(units, options, modelTokenizer);
      expect(repeated).toHaveLength(plain.length);
      repeated.forEach((made, index) => {
        expect(made.text.endsWith(plain[index]!.text)).toBe(true);
        const prefix = made.text.slice(0, made.text.length - plain[index]!.text.length).trim();
        expect(plain[index - 1]?.text.endsWith(prefix) ?? prefix === "").toBe(true);
        expect(modelTokenizer.countTokens(prefix)).toBeLessThanOrEqual(20);
      });
    }),
    { numRuns: 100 },
  );
});
