/**
 * The header of a chunk: the title of its document and the headings above it, a line each, outermost first.
 * It is embedded and indexed with the chunk, whose own words may not say what they are about.
 * @see docs/decisions/0040-headers-of-chunks.md
 */
import type { Chunk } from "../../chunkers/index.ts";
import type { NewChunk } from "../../db/runs/insert-chunks.ts";
import { createTimeSlice } from "../../process/time-slice.ts";
import type { EmbeddingModel } from "../../models/embedding/embedding-model.ts";
import { oneLine } from "./document-title.ts";

/** Bounds what is stored and indexed. */
export const MAX_HEADER_CHARS = 400;
/** Bounds what is embedded, by the model's own tokens, so that the text stays most of the input. */
export const MAX_HEADER_TOKENS = 64;

type HeaderModel = Pick<EmbeddingModel, "tokenOffsets" | "countTokens" | "maxTokens">;
type HeadedText = Pick<NewChunk, "header" | "text">;

/** How much of a text a measure allows: the text as it is, or its beginning up to the end of a word. */
interface Measure {
  sizeOf(line: string): number;
  /** The offset up to which the line has at most this size. */
  endWithin(line: string, most: number): number;
}

const CHARACTERS: Measure = {
  sizeOf: (line) => line.length + 1,
  endWithin: (_line, most) => most - 1,
};

/** By the model's tokens. The end of a line is one for some models, and none for others. */
function tokensOf(model: HeaderModel): Measure {
  const lineEnd = model.countTokens("\n");
  return {
    sizeOf: (line) => model.countTokens(line) + lineEnd,
    endWithin: (line, most) => model.tokenOffsets(line)[Math.max(0, most - lineEnd)]?.[0] ?? line.length,
  };
}

/** The header of a chunk, without what its text begins with; empty if nothing else is known. */
export function headerOf(title: string, chunk: Pick<Chunk, "text" | "metadata">): string {
  const lines = [title, ...(chunk.metadata.heading_path ?? []).map(oneLine)];
  const said = linesAtStart(chunk.text, new Set(lines.map(comparedLine)));
  const own = lines.filter((line) => {
    const name = comparedLine(line);
    const isNew = name !== "" && !said.has(name);
    said.add(name);
    return isNew;
  });
  return fitting(own, MAX_HEADER_CHARS, CHARACTERS).join("\n");
}

/** What is embedded for a chunk. The header gets what room the text leaves: the model cuts the end off. */
export function textToEmbed({ header, text }: HeadedText, model: HeaderModel): string {
  if (header === null || header === "") return text;
  const room = Math.min(MAX_HEADER_TOKENS, model.maxTokens - model.countTokens(text));
  return [...fitting(header.split("\n"), room, tokensOf(model)), text].join("\n");
}

/** {@link textToEmbed} for many chunks. Counting tokens of long ones gives way to other work. */
export async function textsToEmbed(chunks: readonly HeadedText[], model: HeaderModel): Promise<string[]> {
  const endOfSlice = createTimeSlice();
  const texts: string[] = [];
  for (const chunk of chunks) {
    texts.push(textToEmbed(chunk, model));
    await endOfSlice();
  }
  return texts;
}

/** Lines that differ in case alone say the same. */
function comparedLine(line: string): string {
  return line.toLowerCase();
}

/** The lines with which the text begins that are among the given ones. */
function linesAtStart(text: string, among: ReadonlySet<string>): Set<string> {
  const found = new Set<string>();
  for (const line of text.slice(0, 2 * MAX_HEADER_CHARS).split("\n")) {
    const name = comparedLine(oneLine(line));
    if (name === "") continue;
    if (!among.has(name)) break;
    found.add(name);
  }
  return found;
}

/**
 * The lines that fit: the title, then the headings from the innermost one outwards, as long as there is room.
 * The first of these that does not fit is cut at the end of a word, and what comes after it is left out.
 */
function fitting(lines: readonly string[], most: number, measure: Measure): string[] {
  const kept = new Map<number, string>();
  let room = most;
  const byImportance = [...lines.entries()].toSorted(([one], [other]) =>
    one === 0 ? -1 : other === 0 ? 1 : other - one,
  );
  for (const [at, line] of byImportance) {
    if (room <= 0) break;
    const size = measure.sizeOf(line);
    const fits = size <= room;
    const shown = fits ? line : wholeWords(line, measure.endWithin(line, room));
    if (shown !== "") kept.set(at, shown);
    if (!fits) break;
    room -= size;
  }
  return [...kept].toSorted(([one], [other]) => one - other).map(([, line]) => line);
}

/** The beginning of the line up to `end`, without a word that is cut there, unless it is the only one. */
function wholeWords(line: string, end: number): string {
  const cut = line.slice(0, end);
  const isWhole = end >= line.length || line[end] === " " || cut.endsWith(" ");
  const space = isWhole ? -1 : cut.lastIndexOf(" ");
  // A cut inside of a character leaves half of it.
  return (space > 0 ? cut.slice(0, space) : cut).replace(/[\uD800-\uDBFF]$/, "").trim();
}
