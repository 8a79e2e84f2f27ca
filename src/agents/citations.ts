/** Checks the [n] marks of an answer, piece by piece as it streams. */
import type { Citation, Sources } from "./sources.ts";

export interface CitationFilter {
  /** Returns as much of the text as is complete, without marks that have no source. */
  write(piece: string): string;
  /** Returns the rest. */
  end(): string;
  /** The sources that were cited, in the order of their numbers. */
  cited(): Citation[];
  /** Where the marks are in all that was returned; of a text with very many the first thousand. */
  marks(): readonly Mark[];
}

/** A mark such as [1, 2] in a text. */
interface Mark {
  readonly indexes: readonly number[];
  /** UTF-16 offsets [start, end). */
  readonly start: number;
  readonly end: number;
}

const MARKS_MAX = 1_000;

const FENCE_TICKS = 3;
/**
 * A run of backticks, a line break, or a mark with the space before it: [1], [1, 2]. No mark exceeds {@link
 * MARK_CHARACTERS}.
 */
const TOKEN = /(?<ticks>`+)|(?<line>\n)|(?<space> ?)\[(?<numbers>\d{1,4}(?:\s?,\s?\d{1,4}){0,15})\]/g;
type Token = Readonly<Partial<Record<"ticks" | "line" | "space" | "numbers", string>>>;
export const MARK_CHARACTERS = 112;
/** The beginning of a mark at the end of a text, which the next piece may complete. */
const UNDECIDED = /(?: ?\[[\d,\s]{0,110}| )$/;

/**
 * Removes marks without a source. Code is left as it is, because brackets mean something else there, and so
 * is everything before the turn's first search. Each piece takes time linear in its own length.
 * @see test/agents/citations.test.ts
 */
export function createCitationFilter(sources: Pick<Sources, "get" | "wereSearched">): CitationFilter {
  const cited = new Map<number, Citation>();
  let undecided = "";
  /** How many backticks opened the code that the text is in; 0 outside code. */
  let codeTicks = 0;
  /** How many backticks the text so far ends with. The next piece may add to their run. */
  let openTicks = 0;
  const marks: Mark[] = [];
  /** UTF-16 units that were returned. */
  let returned = 0;

  /** @param at where it is in all that is returned. */
  const mark = (space: string, numbers: string, at: number): string => {
    const known = numbers
      .split(",")
      .map(Number)
      .flatMap((index) => sources.get(index) ?? []);
    for (const citation of known) cited.set(citation.index, citation);
    if (known.length === 0) return "";
    const indexes = known.map((citation) => citation.index);
    const text = `[${indexes.join(", ")}]`;
    const start = at + space.length;
    if (marks.length < MARKS_MAX) marks.push({ indexes, start, end: start + text.length });
    return space + text;
  };
  const endRun = (): void => {
    if (openTicks === 0) return;
    if (codeTicks === 0) codeTicks = openTicks;
    else if (codeTicks === openTicks) codeTicks = 0;
    openTicks = 0;
  };
  const filter = (text: string): string => {
    if (text !== "" && !text.startsWith("`")) endRun();
    /** What the marks so far have become longer by. */
    let longer = 0;
    const shown = text.replace(TOKEN, (match: string, ...rest: unknown[]) => {
      const { ticks, line, space = "", numbers = "" } = rest.at(-1) as Token;
      if (ticks !== undefined) {
        openTicks += ticks.length;
        const end = (rest.at(-3) as number) + ticks.length;
        if (end < text.length) endRun();
        return match;
      }
      // Code that fewer than three backticks open ends with its line: it may be a stray backtick.
      if (line !== undefined && codeTicks < FENCE_TICKS) codeTicks = 0;
      if (line !== undefined || codeTicks > 0) return match;
      const marked = mark(space, numbers, returned + (rest.at(-3) as number) + longer);
      longer += marked.length - match.length;
      return marked;
    });
    returned += shown.length;
    return shown;
  };

  return {
    write(piece) {
      if (!sources.wereSearched) {
        returned += piece.length;
        return piece;
      }
      const text = undecided + piece;
      const tail = text.slice(-MARK_CHARACTERS);
      undecided = UNDECIDED.exec(tail)?.[0] ?? "";
      return filter(text.slice(0, text.length - undecided.length));
    },
    end() {
      const text = undecided;
      undecided = "";
      return filter(text);
    },
    cited: () => [...cited.values()].toSorted((one, other) => one.index - other.index),
    marks: () => marks,
  };
}
