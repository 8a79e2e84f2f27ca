/** Checks the [n] marks of an answer, piece by piece as it streams. */
import { type Statement, createStatementFinder } from "./quotes/statement.ts";
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
export interface Mark {
  readonly indexes: readonly number[];
  /** UTF-16 offsets [start, end). */
  readonly start: number;
  readonly end: number;
}

/** Is told of the marks of an answer, with the statement before each. */
export interface MarkReader {
  /** False takes the source out of the mark. */
  keeps(index: number, statement: Statement | undefined): boolean;
  /** A mark that is part of the answer; of a text with very many the first thousand. */
  marked(mark: Mark, statement: Statement | undefined): void;
}

const MARKS_MAX = 1_000;

const FENCE_TICKS = 3;
/** A run of backticks, a line break, or a mark with its space: [1, 2]; at most {@link MARK_CHARACTERS}. */
const TOKEN = /(?<ticks>`+)|(?<line>\n)|(?<space> ?)\[(?<numbers>\d{1,4}(?:\s?,\s?\d{1,4}){0,15})\]/g;
type Token = Readonly<Partial<Record<"ticks" | "line" | "space" | "numbers", string>>>;
export const MARK_CHARACTERS = 112;
/** The beginning of a mark at the end of a text, which the next piece may complete. */
const UNDECIDED = /(?: ?\[[\d,\s]{0,110}| )$/;

/**
 * Removes marks without a source. Code is left as it is, because brackets mean something else there, and so
 * is everything before the turn's first search. Each piece takes time linear in its own length.
 */
export function createCitationFilter(
  sources: Pick<Sources, "get" | "wereSearched">,
  reader?: MarkReader,
): CitationFilter {
  const checked = createMarkChecker(sources, reader);
  let undecided = "";
  /** How many backticks opened the code that the text is in; 0 outside code. */
  let codeTicks = 0;
  /** How many backticks the text so far ends with. The next piece may add to their run. */
  let openTicks = 0;

  const endRun = (): void => {
    if (openTicks === 0) return;
    if (codeTicks === 0) codeTicks = openTicks;
    else if (codeTicks === openTicks) codeTicks = 0;
    openTicks = 0;
  };
  const filter = (text: string): string => {
    if (text !== "" && !text.startsWith("`")) endRun();
    /** What comes before it has been given to `checked`. */
    let told = 0;
    const shown = text.replace(TOKEN, (match: string, ...rest: unknown[]) => {
      const { ticks, line, space = "", numbers = "" } = rest.at(-1) as Token;
      const at = rest.at(-3) as number;
      if (ticks !== undefined) {
        openTicks += ticks.length;
        if (at + ticks.length < text.length) endRun();
        return match;
      }
      // Code that fewer than three backticks open ends with its line: it may be a stray backtick.
      if (line !== undefined && codeTicks < FENCE_TICKS) codeTicks = 0;
      if (line !== undefined || codeTicks > 0) return match;
      checked.text(text.slice(told, at));
      told = at + match.length;
      return checked.mark(space, numbers);
    });
    checked.text(text.slice(told));
    return shown;
  };

  return {
    write(piece) {
      if (!sources.wereSearched) {
        checked.text(piece);
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
    cited: checked.cited,
    marks: checked.marks,
  };
}

/** Takes an answer as its text and its marks, and decides what of a mark is shown. */
function createMarkChecker(sources: Pick<Sources, "get">, reader: MarkReader | undefined) {
  const cited = new Map<number, Citation>();
  const marks: Mark[] = [];
  const statements = reader && createStatementFinder();
  /** UTF-16 units of the answer so far. */
  let length = 0;
  return {
    text(text: string): void {
      length += text.length;
      statements?.write(text);
    },
    /** @returns what is shown of the mark; nothing if none of its sources is left. */
    mark(space: string, numbers: string): string {
      const statement = statements?.before();
      const known = numbers
        .split(",")
        .map(Number)
        .flatMap((index) => sources.get(index) ?? [])
        .filter(({ index }) => reader?.keeps(index, statement) ?? true);
      if (known.length === 0) return "";
      for (const citation of known) cited.set(citation.index, citation);
      const indexes = known.map((citation) => citation.index);
      const text = `[${indexes.join(", ")}]`;
      const start = length + space.length;
      length = start + text.length;
      statements?.mark(space + text);
      if (marks.length >= MARKS_MAX) return space + text;
      const mark = { indexes, start, end: length };
      marks.push(mark);
      reader?.marked(mark, statement);
      return space + text;
    },
    cited: () => [...cited.values()].toSorted((one, other) => one.index - other.index),
    marks: () => marks,
  };
}
