/** Chooses what is quoted of a sentence or row that is longer than a quote may be. */
import { pushTerms } from "../../search/text/analyzer.ts";
import { QUOTE_MAX } from "../../domain/work/turn.ts";
import type { Languages } from "../../search/text/language.ts";
import { cutWords } from "../../search/text/tokens.ts";
import { numbersIn } from "./numbers.ts";
import type { Part, ReadPassage } from "./passage.ts";
import { trim } from "./sentences.ts";

const NUMBER_WEIGHT = 3;

interface Span {
  readonly start: number;
  readonly end: number;
  /** 0 for words that the statement does not have. */
  readonly weight: number;
}

/**
 * The offsets of at most {@link QUOTE_MAX} characters of the part: those with the most words of the
 * statement, in whole cells for a table row if they fit. Never cuts a character in two.
 */
export function windowOf(
  { text, languages }: ReadPassage,
  { start, end, kind }: Pick<Part, "start" | "end" | "kind">,
  statement: string,
): [start: number, end: number] {
  const part = text.slice(start, end);
  const words = spansOf(part, statement, languages);
  const cells = kind === "row" ? cellsOf(part, words) : [];
  const best = heaviest(cells.length > 0 ? cells : words);
  if (best === undefined) return trim(text, start, safeEnd(text, start, end));
  const [first, last] = cells.length > 0 ? best : widened(words, best);
  return trim(text, start + first, safeEnd(text, start + first, start + last));
}

/** The words of a text in order, without overlaps, each with its weight for the statement. */
function spansOf(text: string, statement: string, languages: Languages): Span[] {
  const wanted = new Set<string>();
  for (const token of cutWords(statement)) for (const term of termsOf(token, languages)) wanted.add(term);
  const numbers = new Set(numbersIn(statement).flatMap(({ readings }) => readings));
  const spans: Span[] = numbersIn(text).map(({ start, end, readings }) => ({
    start,
    end,
    weight: readings.some((reading) => numbers.has(reading)) ? NUMBER_WEIGHT : 0,
  }));
  for (const token of cutWords(text)) {
    const has = termsOf(token, languages).some((term) => wanted.has(term));
    spans.push({ start: token.start, end: token.end, weight: has ? 1 : 0 });
  }
  return spans
    .filter(({ start, end }) => end - start <= QUOTE_MAX)
    .toSorted((one, other) => one.start - other.start || one.end - other.end);
}

function termsOf(token: ReturnType<typeof cutWords>[number], languages: Languages): string[] {
  const terms: string[] = [];
  pushTerms(terms, token, languages);
  return terms;
}

/** The cells of a row that fit in a quote, each with the weight of its words. */
function cellsOf(row: string, words: readonly Span[]): Span[] {
  const cells: Span[] = [];
  let next = 0;
  for (let start = 0; start <= row.length;) {
    const bar = row.indexOf("|", start);
    const end = bar < 0 ? row.length : bar;
    let weight = 0;
    for (; next < words.length && words[next]!.end <= end; next++) weight += words[next]!.weight;
    if (end - start > QUOTE_MAX) return [];
    cells.push({ start, end, weight });
    start = end + 1;
  }
  return cells;
}

/** The stretch of at most {@link QUOTE_MAX} characters with the most weight, from word to word. */
function heaviest(spans: readonly Span[]): [start: number, end: number] | undefined {
  let best: [number, number] | undefined;
  let bestWeight = 0;
  let weight = 0;
  let first = 0;
  for (const span of spans) {
    weight += span.weight;
    while (span.end - spans[first]!.start > QUOTE_MAX) weight -= spans[first++]!.weight;
    if (weight > bestWeight) {
      while (spans[first]!.weight === 0) first++;
      bestWeight = weight;
      best = [spans[first]!.start, span.end];
    }
  }
  return best;
}

/** The stretch with the words around it that fit: from the text's start if near, else on both sides. */
function widened(spans: readonly Span[], [start, end]: [number, number]): [start: number, end: number] {
  const room = QUOTE_MAX - (end - start);
  const before = end <= QUOTE_MAX ? 0 : start - room / 2;
  const first = spans.find((span) => span.start >= before)?.start ?? start;
  const from = Math.min(first, start);
  const last = spans.findLast((span) => span.end <= from + QUOTE_MAX)?.end ?? end;
  return [from, Math.max(last, end)];
}

/** At most {@link QUOTE_MAX} characters behind `start`, without the first half of a character. */
function safeEnd(text: string, start: number, end: number): number {
  let safe = Math.min(end, start + QUOTE_MAX);
  while (
    safe > start + 1 &&
    safe < end &&
    /^(?:\p{M}|\u200d|[\udc00-\udfff])/u.test(text.slice(safe, safe + 2))
  )
    safe--;
  return safe;
}
