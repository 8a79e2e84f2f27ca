/** The chunkers and the embedding models' tokenizers as subjects of the cost test. */
import { CHUNKER_NAMES, chunkerNamed } from "../../../src/chunkers/index.ts";
import type { Chunk, Tokenizer } from "../../../src/chunkers/chunk.ts";
import { UNIT_TYPES, type TextUnit } from "../../../src/domain/text-unit.ts";
import { loadBytePairTokens } from "../../../src/models/tokens/byte-pair.ts";
import { modelTokenizer } from "../../support/files/tokenizer.ts";
import type { Shape } from "../shape.ts";
import { PLAIN_SHAPES, SOME_SHAPES, TEXT_SHAPES } from "../shapes.ts";
import type { Extent, Subject } from "./subject.ts";

const OPTIONS = { maxTokens: 300, overlapTokens: 50 } as const;
/**
 * How many times as long as the text all chunks may be: they repeat the overlap, and a table's head in each
 * of its parts.
 */
const MOST_TEXT_TIMES = 4;
const ALLOWANCE_CHARACTERS = 4_096;
const SEEN_WORDS = 120_000;
/** Two models with different encodings. */
const BYTE_PAIR_MODELS = ["text-embedding-3-small", "gpt-4o"] as const;

interface Laying {
  readonly name: string;
  lay(text: string): TextUnit[];
}

const unit = (type: TextUnit["type"], text: string, place: Partial<TextUnit> = {}): TextUnit => ({
  type,
  text,
  page: null,
  heading_path: [],
  ...place,
});

/** Ways to divide one text into the units that a chunker is given. */
const LAYINGS: readonly Laying[] = [
  ...UNIT_TYPES.map((type): Laying => ({
    name: `as one ${type}`,
    lay: (text) => [unit(type, text, type === "heading" ? { level: 1, heading_path: [text] } : {})],
  })),
  { name: "as a table under a head", lay: (text) => [unit("table", `| a | b |\n| --- | --- |\n${text}`)] },
  {
    name: "a line each, pages ascending",
    lay: (text) => text.split("\n").map((line, index) => unit("paragraph", line, { page: index + 1 })),
  },
  {
    name: "a line each, under six headings",
    lay: (text) =>
      text
        .split("\n")
        .map((line) =>
          unit("paragraph", line, { heading_path: Array.from({ length: 6 }, () => "h".repeat(512)) }),
        ),
  },
  {
    name: "a heading each line",
    lay: (text) =>
      text
        .split("\n")
        .map((line) => unit("heading", line.slice(0, 512), { level: 1, heading_path: [line.slice(0, 512)] })),
  },
];

const LINES = new Set(["\\n × n", "a\\n × n", "lines of words", "- \\n × n", "keys", "|a|b|\\n|-|-|\\n × n"]);
const isOfLines = ({ name }: { readonly name: string }): boolean => LINES.has(name);

/**
 * Up to four letters or digits are a token, and so is any other character. The real tokenizers are measured
 * separately.
 */
const TOKEN = /[\p{L}\p{N}]{1,4}|\S/gu;
const tokenizer: Tokenizer = {
  countTokens: (text) => text.match(TOKEN)?.length ?? 0,
  tokenOffsets: (text) =>
    Array.from(text.matchAll(TOKEN), (match) => [match.index, match.index + match[0].length] as const),
};

function shapesFor(laying: string, extent: Extent): readonly Shape[] {
  if (laying.includes("line")) return TEXT_SHAPES.filter(isOfLines);
  if (extent === "all") return TEXT_SHAPES;
  return laying === "as one paragraph" ? SOME_SHAPES : PLAIN_SHAPES;
}

export const chunkers = (extent: Extent): Subject[] =>
  CHUNKER_NAMES.flatMap((name) =>
    LAYINGS.map(({ name: laying, lay }) => ({
      name: `chunker ${name}, ${laying}`,
      shapes: shapesFor(laying, extent),
      // The text of one unit has at most 64 KB.
      maxLength: extent === "all" ? 65_536 : 32_768,
      prepare: lay,
      run: (units: unknown) => chunkerNamed(name)(units as TextUnit[], OPTIONS, tokenizer),
      faultsOf: (chunks: unknown, text: string) => chunkFaults(chunks as Chunk[], text),
    })),
  );

function chunkFaults(chunks: readonly Chunk[], text: string): string[] {
  const characters = chunks.reduce((sum, chunk) => sum + chunk.text.length, 0);
  const tokens = Math.max(0, ...chunks.map((chunk) => chunk.token_count));
  return [
    ...(characters > MOST_TEXT_TIMES * text.length + ALLOWANCE_CHARACTERS
      ? [`makes ${characters} characters of ${text.length}`]
      : []),
    ...(tokens > OPTIONS.maxTokens ? [`has a chunk of ${tokens} tokens`] : []),
  ];
}

export async function tokenizers(extent: Extent): Promise<Subject[]> {
  // Simulates a process that has run for a while: the library's cache of words must not slow down other
  // texts.
  const words = Array.from(
    { length: SEEN_WORDS },
    (_, index) => `wxq${(index * 7_919).toString(36)}yzz`,
  ).join(" ");
  const bytePairs = await Promise.all(
    BYTE_PAIR_MODELS.map(async (model) => ({ model, tokens: await loadBytePairTokens(model) })),
  );
  for (const { tokens } of bytePairs) tokens.count(words);
  const counting = [
    { model: "WordPiece", count: modelTokenizer.countTokens, offsets: modelTokenizer.tokenOffsets },
    ...bytePairs.map(({ model, tokens }) => ({ model, count: tokens.count, offsets: tokens.offsets })),
  ];
  const shapes = extent === "all" ? TEXT_SHAPES : SOME_SHAPES;
  return counting.flatMap(({ model, count, offsets }, index) => [
    { name: `tokens counted by ${model}`, shapes, run: (text: unknown) => count(text as string) },
    {
      name: `offsets of tokens by ${model}`,
      shapes: extent === "all" || index < 2 ? shapes : PLAIN_SHAPES,
      run: (text: unknown) => offsets(text as string),
    },
  ]);
}
