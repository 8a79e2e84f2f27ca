/**
 * Makes chunks, vectors and questions for the search bench: the same for the same seed, with the word
 * frequencies and clusters of real collections.
 */
import { seeded } from "../../test/support/seeded.ts";
import { normal } from "./normal.ts";

export interface MadeChunk {
  readonly text: string;
  readonly terms: readonly string[];
  /** The place of each term among all words, most frequent first, from 0. */
  readonly ranks: readonly number[];
  readonly vector: Float32Array;
}

export interface MadeQuery {
  readonly text: string;
  readonly vector: Float32Array;
  /** The chunk that the question was made from. */
  readonly about: number;
}

export interface MadeCorpus {
  chunk(at: number): MadeChunk;
  queries(count: number, chunks: number): MadeQuery[];
}

const VOCABULARY = 200_000;
const WORDS_A_CHUNK = 150;
const TOPICS = 400;
const WORDS_A_TOPIC = 300;
/** Zipf–Mandelbrot: a word of rank r is as frequent as 1 / (r + 2.7). */
const OFFSET = 2.7;

function unit(vector: Float32Array): Float32Array {
  const length = Math.hypot(...vector);
  return vector.map((value) => Math.round((value / length) * 10_000) / 10_000);
}

/** A word consists of letters alone, so that analyzers take it as one word and stem nothing. */
const wordOf = (rank: number): string =>
  `q${rank.toString(26).replace(/[0-9]/g, (digit) => "qrstuvwxyz"[Number(digit)]!)}x`;

/** Draws a word by its frequency. @returns its rank */
function drawRank(next: () => number): number {
  return Math.min(
    VOCABULARY - 1,
    Math.floor((1 + OFFSET) * ((VOCABULARY + OFFSET) / (1 + OFFSET)) ** next() - OFFSET),
  );
}

export function makeCorpus(seed: number, dimensions: number): MadeCorpus {
  const ofTopics = seeded(seed);
  const topics = Array.from({ length: TOPICS }, () => ({
    center: unit(Float32Array.from({ length: dimensions }, () => normal(ofTopics))),
    words: Array.from({ length: WORDS_A_TOPIC }, () => drawRank(ofTopics) + 200),
  }));
  const near = (center: Float32Array, noise: number, next: () => number): Float32Array =>
    unit(center.map((value) => value + (noise * normal(next)) / Math.sqrt(dimensions)));
  const chunk = (at: number): MadeChunk => {
    const next = seeded(seed * 1_000_003 + at);
    const topic = topics[Math.floor(next() * TOPICS)]!;
    const ranks = Array.from({ length: WORDS_A_CHUNK }, () =>
      next() < 0.25 ? topic.words[Math.floor(next() ** 2 * WORDS_A_TOPIC)]! : drawRank(next),
    );
    const terms = ranks.map(wordOf);
    return { text: terms.join(" "), terms, ranks, vector: near(topic.center, 0.9, next) };
  };
  return {
    chunk,
    queries(count, chunks) {
      const next = seeded(seed + 17);
      return Array.from({ length: count }, () => {
        const about = Math.floor(next() * chunks);
        const { ranks, vector } = chunk(about);
        // People ask with common words more than with rare ones, which would each identify the chunk.
        const common = ranks.toSorted((one, other) => one - other).slice(10, 110);
        const words = Array.from({ length: 3 + Math.floor(next() * 8) }, () =>
          wordOf(common[Math.floor(next() * common.length)]!),
        );
        return { text: [...new Set(words)].join(" "), vector: near(vector, 1.5, next), about };
      });
    },
  };
}
