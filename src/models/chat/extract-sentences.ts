/** Picks, without a language model, the sentences of numbered sources that match a question best. */

export interface Source {
  /** The number in its `[n]` mark. */
  readonly index: number;
  readonly text: string;
}

export interface Quote {
  readonly index: number;
  readonly sentence: string;
}

interface Candidate extends Quote {
  readonly words: ReadonlySet<string>;
  /** Position of its source among all; search puts the best source first. */
  readonly rank: number;
}

const MAX_SENTENCE_LENGTH = 400;
/** Sentences that are compared; bounds the work on sources of any size. */
const MAX_CANDIDATES = 2_000;
/** Shorter sentences are never quoted. */
const MIN_WORDS = 3;
/** Words are compared by their beginnings, which joins most inflected forms in most languages with spaces. */
const STEM_LENGTH = 6;

const words = new Intl.Segmenter(undefined, { granularity: "word" });
const sentences = new Intl.Segmenter(undefined, { granularity: "sentence" });

function wordsOf(text: string): Set<string> {
  const found = new Set<string>();
  for (const { segment, isWordLike } of words.segment(text.normalize("NFKC").toLowerCase())) {
    if (isWordLike === true) found.add(Array.from(segment).slice(0, STEM_LENGTH).join(""));
  }
  return found;
}

/** The mark of a list item, a heading or a row of a table at the beginning of a line. */
const MARKED = /^\s*(?:[-*•#|]|\d{1,3}[.)]\s)/u;

/**
 * A blank line, or the mark of a list item or heading, begins a new paragraph; other line ends only wrap the
 * page.
 */
function paragraphsOf(text: string): string[] {
  const paragraphs: string[][] = [[]];
  for (const line of text.split("\n")) {
    const isBlank = line.trim() === "";
    if ((isBlank || MARKED.test(line)) && paragraphs.at(-1)?.length !== 0) paragraphs.push([]);
    if (!isBlank) paragraphs.at(-1)?.push(line);
  }
  return paragraphs.map((lines) =>
    lines
      .join("\n")
      .replace(/^\s*(?:#+|[-*•])\s+/u, "")
      .replace(/\s+/gu, " ")
      .trim(),
  );
}

function shortened(sentence: string): string {
  const characters = Array.from(sentence);
  return characters.length <= MAX_SENTENCE_LENGTH
    ? sentence
    : `${characters.slice(0, MAX_SENTENCE_LENGTH).join("").trimEnd()}…`;
}

function candidatesOf(sources: readonly Source[]): Candidate[] {
  const candidates: Candidate[] = [];
  const seen = new Set<string>();
  for (const [rank, { index, text }] of sources.entries()) {
    const found = paragraphsOf(text).flatMap((paragraph) =>
      Array.from(sentences.segment(paragraph), ({ segment }) => segment.trim()),
    );
    for (const sentence of found) {
      if (candidates.length >= MAX_CANDIDATES) return candidates;
      if (sentence === "" || seen.has(sentence)) continue;
      seen.add(sentence);
      candidates.push({ index, rank, sentence: shortened(sentence), words: wordsOf(sentence) });
    }
  }
  return candidates;
}

/**
 * The best sentence and those at least half as good, at most `maxQuotes`. A sentence's score is the sum of
 * the inverse document frequencies, among all sentences, of the question's words in it. The score falls to
 * half towards the last source, and for sentences of 50 words.
 */
export function extractSentences(question: string, sources: readonly Source[], maxQuotes: number): Quote[] {
  const candidates = candidatesOf(sources);
  const asked = wordsOf(question);
  const weights = new Map<string, number>();
  for (const word of asked) {
    const frequency = candidates.filter(({ words: has }) => has.has(word)).length;
    weights.set(word, Math.log(1 + candidates.length / (frequency + 0.5)));
  }
  const scored = candidates.map((candidate) => {
    let score = 0;
    for (const [word, weight] of weights) if (candidate.words.has(word)) score += weight;
    const nearness = 1 - (0.5 * candidate.rank) / sources.length;
    const brevity = 1 / (1 + candidate.words.size / 50);
    return { candidate, score: candidate.words.size < MIN_WORDS ? 0 : score * nearness * brevity };
  });
  const ordered = scored.toSorted((left, right) => right.score - left.score);
  const best = ordered[0]?.score ?? 0;
  return ordered
    .filter(({ score }) => score > 0 && score >= best / 2)
    .slice(0, maxQuotes)
    .map(({ candidate: { index, sentence } }) => ({ index, sentence }));
}
