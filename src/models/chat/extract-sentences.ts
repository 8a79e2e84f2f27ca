/** Picks, without a language model, what numbered sources say in answer to a question, or nothing. */
import { piecesOf } from "./pieces.ts";

export interface Source {
  /** The number in its `[n]` mark. */
  readonly index: number;
  /** The document's name: what it is about, where its sentences leave that unsaid. */
  readonly name?: string;
  readonly text: string;
}

export interface Quote {
  readonly index: number;
  readonly sentence: string;
}

/** A word of a question, with all terms that it may have in a text. */
interface QuestionWord {
  readonly terms: readonly string[];
  readonly weight: number;
}

/** Makes terms of texts and questions. Search has it, and whoever makes the model hands it in. */
export interface TermReader {
  /** Terms without function words. @param language the text's, where its own words do not show it. */
  analyze(text: string, language?: string): { readonly language: string; readonly terms: readonly string[] };
  analyzeQuery(text: string): readonly QuestionWord[];
}

/** Sentences that are compared; bounds the work on sources of any size. */
const MAX_CANDIDATES = 2_000;
/** Shorter sentences are never quoted: one word states nothing. */
const MIN_TERMS = 2;
/** The beginning of a source tells its language. */
const TELLING_LENGTH = 8_192;
/**
 * What a word counts that stands not in a sentence but around it: in the one before or after it, the heading
 * or the document's name; and what it counts elsewhere in its source. From .4 to .6, and from .25 to .4, the
 * answers are as good within 1 %.
 */
const NEARBY = 0.5;
const ELSEWHERE = 0.3;
/** A word that every sentence has weighs this beside a rare one, so that it still decides between equals. */
const LEAST_WEIGHT = 0.2;
/** At 1 fewer questions about something else are refused; at 2 the only rare word decides alone. */
const RARITY_POWER = 1.5;
/** Rare words that count as missing from every question: two of two say more than one of one. 1 to 4 do. */
const ALWAYS_MISSING = 2;
/**
 * The coverage below which nothing is quoted. From .03 up more than 80 % of another collection's questions
 * are refused; up to .125 at most 3 % of those that have an answer, and no collection answers worse than
 * before.
 * @see docs/search.md
 */
const FLOOR = 0.125;
/** A sentence with so many terms has half a short one's score. 100 to 200 do; 50 loses Chinese ones. */
const LONG = 150;
/** What the last source loses against the first. .5 to .7 do; .3 loses 1 % of the answers. */
const LAST_SOURCE_LOSS = 0.6;
/** Weights are sums of shares such as .7 and .3. */
const ROUNDING = 1e-6;

interface Candidate extends Quote {
  readonly isQuotable: boolean;
  /** Numbers of the question's words in it, in what stands above it, and in the name of its document. */
  readonly own: ReadonlySet<number>;
  readonly above: ReadonlySet<number>;
  readonly named: ReadonlySet<number>;
  /** How many different terms it has. */
  readonly size: number;
  /** Position of its source among all; search puts the best source first. */
  readonly rank: number;
}

interface Scored {
  readonly candidate: Candidate;
  readonly coverage: number;
  readonly score: number;
}

const NONE: ReadonlySet<number> = new Set();

type Finder = (text: string, language: string) => { numbers: ReadonlySet<number>; size: number };

function finderOf(words: readonly QuestionWord[], reader: TermReader): Finder {
  const byTerm = new Map<string, number[]>();
  for (const [number, { terms }] of words.entries()) {
    for (const term of terms) {
      const known = byTerm.get(term);
      if (known === undefined) byTerm.set(term, [number]);
      else known.push(number);
    }
  }
  return (text, language) => {
    const terms = new Set(reader.analyze(text, language).terms);
    const numbers = new Set<number>();
    for (const term of terms) for (const number of byTerm.get(term) ?? []) numbers.add(number);
    return { numbers, size: terms.size };
  };
}

/** Finds the words of texts of which many in a row are the same, such as the heading above each of them. */
function rememberingLast(find: Finder): (text: string, language: string) => ReadonlySet<number> {
  let last = "";
  let numbers = NONE;
  return (text, language) => {
    if (text !== last) numbers = find(text, language).numbers;
    last = text;
    return numbers;
  };
}

function candidatesOf(sources: readonly Source[], find: Finder, reader: TermReader): Candidate[] {
  const candidates: Candidate[] = [];
  for (const [rank, { index, name = "", text }] of sources.entries()) {
    const { language } = reader.analyze(text.slice(0, TELLING_LENGTH));
    const named = find(name, language).numbers;
    const findHeading = rememberingLast(find);
    const findColumns = rememberingLast(find);
    for (const piece of piecesOf(text)) {
      if (candidates.length >= MAX_CANDIDATES) return candidates;
      const { numbers, size } = find(piece.own, language);
      // The names of columns are every row's, so they answer only together with a cell that matches.
      const own =
        numbers.size === 0 ? numbers : new Set([...numbers, ...findColumns(piece.columns, language)]);
      const above = findHeading(piece.above, language);
      const isQuotable = piece.isQuotable && size >= MIN_TERMS;
      candidates.push({ index, sentence: piece.text, isQuotable, own, above, named, size, rank });
    }
  }
  return candidates;
}

/** Weighs each word of the question by how few of all sentences have it; one that none has is the rarest. */
function weightsOf(words: readonly QuestionWord[], candidates: readonly Candidate[]) {
  const weightAt = (frequency: number): number => {
    const rarity = Math.log(1 + (candidates.length - frequency + 0.5) / (frequency + 0.5));
    return (LEAST_WEIGHT + rarity) ** RARITY_POWER;
  };
  const frequencies = words.map(() => 0);
  for (const { own } of candidates) for (const number of own) frequencies[number]! += 1;
  const ofWords = frequencies.map((frequency) => weightAt(Math.max(1, frequency)));
  const weights = words.map(({ weight }, number) => weight * ofWords[number]!);
  const sum = weights.reduce((total, weight) => total + weight, 0);
  const rarest = ofWords.reduce((most, weight) => Math.max(most, weight), 0);
  return weights.map((weight) => weight / (sum + ALWAYS_MISSING * rarest));
}

/** Whether the sources share but one word with a question of several: that is too little to answer it. */
function isOneOfSeveral(words: readonly QuestionWord[], candidates: readonly Candidate[]): boolean {
  const found = new Set(candidates.flatMap(({ own, above, named }) => [...own, ...above, ...named]));
  const asked = words.reduce((sum, { weight }) => sum + weight, 0);
  const shared = words.reduce((sum, { weight }, number) => sum + (found.has(number) ? weight : 0), 0);
  return asked > 1 + ROUNDING && shared <= 1 + ROUNDING;
}

/** The words of each source that one of its sentences has. */
function wordsOfSources(candidates: readonly Candidate[]): ReadonlyMap<number, ReadonlySet<number>> {
  const ofSource = new Map<number, Set<number>>();
  for (const { rank, own } of candidates) {
    const known = ofSource.get(rank) ?? new Set<number>();
    for (const number of own) known.add(number);
    ofSource.set(rank, known);
  }
  return ofSource;
}

/**
 * Scores each sentence by its coverage: the share of the question's weight that is in the sentence or,
 * counting less, in the text around it.
 */
function score(words: readonly QuestionWord[], candidates: readonly Candidate[], sources: number): Scored[] {
  const weights = weightsOf(words, candidates);
  const ofSource = wordsOfSources(candidates);
  const ownAt = (at: number, rank: number): ReadonlySet<number> => {
    const neighbour = candidates[at];
    return neighbour?.rank === rank ? neighbour.own : NONE;
  };
  return candidates.map((candidate, at) => {
    const { own, above, named, rank, size, isQuotable } = candidate;
    if (!isQuotable || own.size === 0) return { candidate, coverage: 0, score: 0 };
    const before = ownAt(at - 1, rank);
    const after = ownAt(at + 1, rank);
    let covered = 0;
    for (const number of new Set([...ofSource.get(rank)!, ...above, ...named])) {
      const isNear = before.has(number) || after.has(number) || above.has(number) || named.has(number);
      covered += weights[number]! * (own.has(number) ? 1 : isNear ? NEARBY : ELSEWHERE);
    }
    const nearness = 1 - (LAST_SOURCE_LOSS * rank) / sources;
    return { candidate, coverage: covered, score: (covered * nearness) / (1 + size / LONG) };
  });
}

const comparable = (text: string): string => text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "");

/** The first `maxQuotes` of them that neither are in one before nor have one before in them. */
function withoutDoubles(ordered: readonly Scored[], maxQuotes: number): Quote[] {
  const quotes: Quote[] = [];
  const taken: string[] = [];
  for (const { candidate } of ordered) {
    if (quotes.length >= maxQuotes) break;
    const plain = comparable(candidate.sentence);
    if (taken.some((other) => other.includes(plain) || plain.includes(other))) continue;
    taken.push(plain);
    quotes.push({ index: candidate.index, sentence: candidate.sentence });
  }
  return quotes;
}

/**
 * The sentence that covers the question best and those at least half as good, at most `maxQuotes`; none if
 * that is too little to be an answer, or the question has nothing but function words. Takes time linear in
 * the length of the sources.
 */
export function extractSentences(
  question: string,
  sources: readonly Source[],
  { maxQuotes, reader }: { maxQuotes: number; reader: TermReader },
): Quote[] {
  if (reader.analyze(question).terms.length === 0) return [];
  // Said twice, as numbers always are, a word is still one.
  const words = reader
    .analyzeQuery(question)
    .map(({ terms, weight }) => ({ terms, weight: Math.min(1, weight) }));
  const candidates = candidatesOf(sources, finderOf(words, reader), reader);
  if (isOneOfSeveral(words, candidates)) return [];
  const scored = score(words, candidates, sources.length);
  const coverage = scored.reduce((most, one) => Math.max(most, one.coverage), 0);
  if (coverage < FLOOR) return [];
  const ordered = scored.toSorted((one, other) => other.score - one.score);
  const least = (ordered[0]?.score ?? 0) / 2;
  return withoutDoubles(
    ordered.filter((one) => one.score > 0 && one.score >= least),
    maxQuotes,
  );
}
