/** The only place that checks the [n] marks of an answer, piece by piece as it streams. */
import type { Citation, Sources } from "./sources.ts";

export interface CitationFilter {
  /** The part of the text so far that is decided, without marks that have no source. */
  write(piece: string): string;
  /** What was held back. */
  end(): string;
  /** The sources that were cited, by number. */
  cited(): Citation[];
}

const FENCE_TICKS = 3;
/** A run of backticks, a line's end, or one mark with the space before it: [1], [1, 2]. */
const TOKEN = /(?<ticks>`+)|(?<line>\n)|(?<space> ?)\[(?<numbers>\d{1,4}(?:\s?,\s?\d{1,4}){0,15})\]/g;
/** The end of a text that may become one of them with the next piece. */
const UNDECIDED = /(?:`+| ?\[[\d,\s]{0,100}| )$/;

/** Leaves code alone, where brackets mean something else, and everything before the turn's first search, where they mean nothing. */
export function createCitationFilter(sources: Sources): CitationFilter {
  const cited = new Map<number, Citation>();
  let held = "";
  /** The backticks that opened the code that the text is in. */
  let code = "";

  const mark = (space: string, numbers: string): string => {
    const known = numbers
      .split(",")
      .map(Number)
      .flatMap((index) => sources.get(index) ?? []);
    for (const citation of known) cited.set(citation.index, citation);
    return known.length === 0 ? "" : `${space}[${known.map((citation) => citation.index).join(", ")}]`;
  };

  const filter = (text: string): string =>
    text.replace(TOKEN, (match: string, ...rest: unknown[]) => {
      const { ticks, line, space = "", numbers = "" } = rest.at(-1) as { ticks?: string; line?: string; space?: string; numbers?: string };
      // A stray backtick opens no code beyond its line.
      if (line !== undefined && code.length < FENCE_TICKS) code = "";
      if (line !== undefined) return match;
      if (ticks !== undefined) {
        code = code === "" ? ticks : code === ticks ? "" : code;
        return match;
      }
      return code === "" ? mark(space, numbers) : match;
    });

  return {
    write(piece) {
      if (!sources.wereSearched) return piece;
      const text = held + piece;
      const undecided = UNDECIDED.exec(text)?.index ?? text.length;
      held = text.slice(undecided);
      return filter(text.slice(0, undecided));
    },
    end() {
      const text = held;
      held = "";
      return filter(text);
    },
    cited: () => [...cited.values()].toSorted((one, other) => one.index - other.index),
  };
}
