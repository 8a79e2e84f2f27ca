/** Makes the documents of the sizing bench: ten sections of English words. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { makeCorpus } from "../../search/corpus.ts";

const SECTIONS = 10;
const corpus = makeCorpus(5, 2);
const WORDS = join(import.meta.dirname, "../../../models/all-minilm-l6-v2-int8/vocab.txt");

/** English words, so that a model takes as many tokens for a text as for a real one. */
const vocabulary = (await readFile(WORDS, "utf8")).split("\n").filter((word) => /^[a-z]{3,}$/.test(word));
/** Ranks beyond the vocabulary are words made of two. */
const wordOf = (rank: number): string =>
  vocabulary[rank] ??
  `${vocabulary[rank % vocabulary.length]}${vocabulary[Math.floor(rank / vocabulary.length)]}`;
const section = (at: number): string =>
  `## Section ${at}\n\n${corpus.chunk(at).ranks.map(wordOf).join(" ")}.\n`;
/** The text of a document, by its number. */
export function textOf(document: number): string {
  return Array.from({ length: SECTIONS }, (_, index) => section(document * SECTIONS + index)).join("\n");
}
