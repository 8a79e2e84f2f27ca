/** The chunkers and the embedding models' tokenizers as subjects of the cost test. */
import { CHUNKER_NAMES, chunkerNamed } from "../../src/chunkers/index.ts";
import type { Chunk } from "../../src/chunkers/chunk.ts";
import { UNIT_TYPES, type TextUnit } from "../../src/domain/text-unit.ts";
import { loadBytePairTokens } from "../../src/models/byte-pair-tokens.ts";
import { modelTokenizer } from "../support/tokenizer.ts";
import { TEXT_SHAPES } from "./shapes.ts";
import type { Subject } from "./subject.ts";

const OPTIONS = { maxTokens: 300, overlapTokens: 50 } as const;
/** Chunks repeat the overlap, and a table's head before each of its parts. */
const MOST_TEXT_TIMES = 4;
const ALLOWANCE_CHARACTERS = 4_096;
/** The models whose encodings differ. */
const BYTE_PAIR_MODELS = ["text-embedding-3-small", "gpt-4o"] as const;

interface Laying {
  readonly name: string;
  lay(text: string): TextUnit[];
}

const unit = (type: TextUnit["type"], text: string, place: Partial<TextUnit> = {}): TextUnit => ({ type, text, page: null, heading_path: [], ...place });

/** How one text becomes the units that a chunker is given. */
const LAYINGS: readonly Laying[] = [
  ...UNIT_TYPES.map((type): Laying => ({ name: `as one ${type}`, lay: (text) => [unit(type, text, type === "heading" ? { level: 1, heading_path: [text] } : {})] })),
  { name: "as a table under a head", lay: (text) => [unit("table", `| a | b |\n| --- | --- |\n${text}`)] },
  { name: "a line each, pages ascending", lay: (text) => text.split("\n").map((line, index) => unit("paragraph", line, { page: index + 1 })) },
  { name: "a line each, under six headings", lay: (text) => text.split("\n").map((line) => unit("paragraph", line, { heading_path: Array.from({ length: 6 }, () => "h".repeat(512)) })) },
  { name: "a heading each line", lay: (text) => text.split("\n").map((line) => unit("heading", line.slice(0, 512), { level: 1, heading_path: [line.slice(0, 512)] })) },
];

const LINES = new Set(["\\n × n", "a\\n × n", "lines of words", "- \\n × n", "keys", "|a|b|\\n|-|-|\\n × n"]);
const isOfLines = ({ name }: { readonly name: string }): boolean => LINES.has(name);

/** A third of the shapes stands for all where only the type of the unit differs. */
const FEW = TEXT_SHAPES.filter(({ name }, index) => index % 6 === 0 || isOfLines({ name }) || name.includes("word"));

export const chunkers = (): Subject[] =>
  CHUNKER_NAMES.flatMap((name) =>
    LAYINGS.map(({ name: laying, lay }) => ({
      name: `chunker ${name}, ${laying}`,
      shapes: laying === "as one paragraph" ? TEXT_SHAPES : laying.includes("line") ? TEXT_SHAPES.filter(isOfLines) : FEW,
      maxLength: 65_536,
      prepare: lay,
      run: (units: unknown) => chunkerNamed(name)(units as TextUnit[], OPTIONS, modelTokenizer),
      faultsOf: (chunks: unknown, text: string) => chunkFaults(chunks as Chunk[], text),
    })),
  );

function chunkFaults(chunks: readonly Chunk[], text: string): string[] {
  const characters = chunks.reduce((sum, chunk) => sum + chunk.text.length, 0);
  const tokens = Math.max(0, ...chunks.map((chunk) => chunk.token_count));
  return [
    ...(characters > MOST_TEXT_TIMES * text.length + ALLOWANCE_CHARACTERS ? [`makes ${characters} characters of ${text.length}`] : []),
    ...(tokens > OPTIONS.maxTokens ? [`has a chunk of ${tokens} tokens`] : []),
  ];
}

export async function tokenizers(): Promise<Subject[]> {
  const bytePairs = await Promise.all(BYTE_PAIR_MODELS.map(async (model) => ({ model, tokens: await loadBytePairTokens(model) })));
  const counting = [
    { model: "WordPiece", count: modelTokenizer.countTokens, offsets: modelTokenizer.tokenOffsets },
    ...bytePairs.map(({ model, tokens }) => ({ model, count: tokens.count, offsets: tokens.offsets })),
  ];
  return counting.flatMap(({ model, count, offsets }) => [
    { name: `tokens counted by ${model}`, shapes: TEXT_SHAPES, run: (text: unknown) => count(text as string) },
    { name: `offsets of tokens by ${model}`, shapes: FEW, run: (text: unknown) => offsets(text as string) },
  ]);
}
