/** Picks the words of a passage that carry a statement, by the words and numbers that both have. */
import { QUOTE_MAX } from "../../domain/work/turn.ts";
import { pushTerms } from "../../search/text/analyzer.ts";
import { cutWords } from "../../search/text/tokens.ts";
import { numbersIn } from "./numbers.ts";
import type { Part, Postings, ReadPassage } from "./passage.ts";
import { windowOf } from "./window.ts";

/** Whether the words of a statement stand in its source. */
export type Support = "strong" | "weak";

export interface Choice {
  /** UTF-16 offsets [start, end) of the quote in the passage; null if it has no words of the statement. */
  readonly quote: readonly [start: number, end: number] | null;
  readonly support: Support;
  /** The share of the statement that the quote carries, 0 to 1; the rest of the passage counts half. */
  readonly coverage: number;
  /** What else has nearly as much of the statement; the choice is in doubt if there are any. */
  readonly rivals: readonly Choice[];
}

/** Measured by `npm run bench:receipts`: docs/decisions/0033-quotes.md has the figures. */
const STRONG_FROM = 0.5;
/** A number says more than a word: a statement of 12 percent needs the 12. */
const NUMBER_WEIGHT = 3;
const ELSEWHERE = 0.5;
const HEADER_SHARE = 0.5;
const HEADING_SHARE = 0.6;
/** A part of this many characters counts half of a very short one. */
const HALF_AT = 900;
/** A neighbour is quoted too if it carries this much more of the statement. */
const NEIGHBOUR_GAIN = 0.15;
const CANDIDATES = 3;
const RIVAL_FROM = 0.85;
const MAX_WORDS = 256;

/** A word or a number of a statement, and where the passage has it. */
interface Wanted {
  readonly weight: number;
  readonly parts: ReadonlySet<number>;
  readonly isNamed: boolean;
  readonly isNumber: boolean;
}

export function pickQuote(statement: string, passage: ReadPassage): Choice {
  const wanted = wantedOf(statement, passage);
  const lacksNumber = wanted.some(({ isNumber, isNamed, parts }) => isNumber && !isNamed && parts.size === 0);
  const ranked = bestParts(wanted, passage);
  const [first] = ranked;
  if (first === undefined) return { quote: null, support: "weak", coverage: 0, rivals: [] };
  const choose = (part: number): Choice => {
    const chosen = withNeighbour(part, wanted, passage);
    const coverage = coverageOf(chosen, wanted, passage);
    return {
      quote: quoteOf(chosen, statement, passage),
      support: coverage >= STRONG_FROM && !lacksNumber ? "strong" : "weak",
      coverage,
      rivals: [],
    };
  };
  const rivals = ranked.slice(1).filter(({ score }) => score >= first.score * RIVAL_FROM);
  return { ...choose(first.part), rivals: rivals.map(({ part }) => choose(part)) };
}

const HAS_LETTER = /\p{L}/u;
/** A name such as B12 or H1N1, in which another digit means something else. */
const NUMBERED_NAME = /^\p{L}[\p{L}\p{M}]*\p{N}[\p{L}\p{N}]*$/u;

function wantedOf(statement: string, { words, numbers, languages, name }: ReadPassage): Wanted[] {
  const wanted = new Map<string, Wanted>();
  const add = (keys: readonly string[], among: Postings, isNumber: boolean): void => {
    const key = keys[0];
    if (key === undefined || wanted.size >= MAX_WORDS || wanted.has(key)) return;
    const named = among === numbers ? name.numbers : name.words;
    wanted.set(key, {
      weight: isNumber ? NUMBER_WEIGHT : 1,
      parts: new Set(keys.flatMap((one) => among.get(one) ?? [])),
      isNamed: keys.some((one) => named.has(one)),
      isNumber,
    });
  };
  for (const { readings } of numbersIn(statement)) add(readings, numbers, true);
  for (const token of cutWords(statement)) {
    if (!HAS_LETTER.test(token.text)) continue;
    const terms: string[] = [];
    pushTerms(terms, token, languages);
    add(terms, words, NUMBERED_NAME.test(token.text));
  }
  return [...wanted.values()];
}

interface Ranked {
  readonly part: number;
  readonly score: number;
}

/** The parts with most of what is wanted, best first; rare words count more. */
function bestParts(wanted: readonly Wanted[], { parts }: ReadPassage): Ranked[] {
  const scores = new Float64Array(parts.length);
  for (const { weight, parts: has } of wanted) {
    const rarity = Math.log(1 + parts.length / (has.size + 0.5));
    for (const part of has) scores[part]! += weight * rarity;
  }
  const best: Ranked[] = [];
  for (const [part, { start, end, kind, header }] of parts.entries()) {
    const own = scores[part]!;
    if (own === 0) continue;
    const all = header === undefined ? own : own + HEADER_SHARE * scores[header]!;
    const score = (all * (kind === "heading" ? HEADING_SHARE : 1)) / (1 + (end - start) / HALF_AT);
    if (best.length === CANDIDATES && score <= best.at(-1)!.score) continue;
    best.push({ part, score });
    best.sort((one, other) => other.score - one.score || one.part - other.part);
    best.length = Math.min(best.length, CANDIDATES);
  }
  return best;
}

/** The part, and the sentence before or after it if both fit in a quote and it carries clearly more. */
function withNeighbour(best: number, wanted: readonly Wanted[], { parts }: ReadPassage): number[] {
  const own = parts[best]!;
  const total = sum(wanted);
  const missing = wanted.filter(({ parts: has }) => !has.has(best));
  const gainOf = (number: number): number => {
    const part = parts[number];
    if (part === undefined || part.kind !== "sentence" || part.block !== own.block) return 0;
    const length = Math.max(part.end, own.end) - Math.min(part.start, own.start);
    return length > QUOTE_MAX ? 0 : sum(missing.filter(({ parts: has }) => has.has(number))) / total;
  };
  const [before, after] = [gainOf(best - 1), gainOf(best + 1)];
  if (Math.max(before, after) < NEIGHBOUR_GAIN) return [best];
  return before > after ? [best - 1, best] : [best, best + 1];
}

function sum(wanted: readonly Wanted[]): number {
  return wanted.reduce((all, { weight }) => all + weight, 0);
}

function coverageOf(chosen: readonly number[], wanted: readonly Wanted[], { parts }: ReadPassage): number {
  const carrying = chosen.flatMap((number) => [number, ...headerOf(parts[number]!)]);
  let covered = 0;
  for (const { weight, parts: has, isNamed } of wanted) {
    if (carrying.some((number) => has.has(number))) covered += weight;
    else if (has.size > 0 || isNamed) covered += weight * ELSEWHERE;
  }
  return covered / sum(wanted);
}

function headerOf({ header }: Part): number[] {
  return header === undefined ? [] : [header];
}

function quoteOf(chosen: readonly number[], statement: string, passage: ReadPassage): [number, number] {
  const start = passage.parts[chosen[0]!]!.start;
  const { end, kind } = passage.parts[chosen.at(-1)!]!;
  return end - start <= QUOTE_MAX ? [start, end] : windowOf(passage, { start, end, kind }, statement);
}
