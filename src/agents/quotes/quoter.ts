/** Finds the quotes of an answer's citations while the answer streams. */
import { createTimeSlice, turnOfLoop } from "../../process/time-slice.ts";
import type { Mark, MarkReader } from "../citations.ts";
import type { Sources } from "../sources.ts";
import { type Choice, pickQuote } from "./pick.ts";
import { type ReadPassage, readPassage, readWhole } from "./passage.ts";
import type { SecondLook } from "./second-look.ts";
import type { Statement } from "./statement.ts";

/** A source of a mark, with what is quoted from it for the statement before the mark. */
export interface MarkedQuote extends Choice {
  readonly index: number;
  /** UTF-16 offsets [start, end) of the mark in the answer. */
  readonly start: number;
  readonly end: number;
  /** Undefined if no words stand before the mark. */
  readonly statement: Statement | undefined;
}

export interface Quoter extends MarkReader {
  /**
   * Reads the sources that marks in `text` may name, so that {@link MarkReader.keeps} does not have to.
   * Undefined if there are none, or none are needed so early.
   */
  prepare(text: string): Promise<void> | undefined;
  /** How many sources were taken out of marks because they do not support the statement. */
  readonly removed: number;
  /** The quotes of all marks, in their order. A second look that has not ended by now is not waited for. */
  end(): Promise<readonly MarkedQuote[]>;
}

/** Sources of marks that get a quote; of more, the first. */
const QUOTES_MAX = 1_000;
/** Quotes of an answer that are looked at again; each takes some 50 ms of a thread. */
const LOOKS_MAX = 20;
const NOTHING: Choice = { quote: null, support: "weak", coverage: 0, rivals: [] };

interface Waiting {
  readonly mark: Mark;
  readonly index: number;
  readonly statement: Statement | undefined;
}

/** Without `requiresSupport` each quote is found after its mark was passed on, between other work. */
export function createQuoter(
  sources: Pick<Sources, "get">,
  { requiresSupport, secondLook }: { requiresSupport: boolean; secondLook?: SecondLook | undefined },
): Quoter {
  const library = createLibrary(sources);
  const quotes: MarkedQuote[] = [];
  const waiting: Waiting[] = [];
  let running: Promise<void> | undefined;
  let removed = 0;
  let looks = 0;

  const find = ({ mark, index, statement }: Waiting, passage: ReadPassage): void => {
    const choice = statement === undefined ? NOTHING : pickQuote(statement.words, passage);
    const place = quotes.push({ ...choice, index, start: mark.start, end: mark.end, statement }) - 1;
    if (statement === undefined || choice.rivals.length === 0 || looks >= LOOKS_MAX) return;
    looks += 1;
    void secondLook?.(statement.words, passage.text, choice).then((better) => {
      quotes[place] = { ...quotes[place]!, ...better };
    });
  };
  const work = async (): Promise<void> => {
    await turnOfLoop();
    const pause = createTimeSlice();
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const passage = await library.read(next.index, pause);
      if (passage !== undefined) find(next, passage);
      await pause();
    }
    running = undefined;
  };

  return {
    prepare(text) {
      const indexes = requiresSupport ? namedIn(text).filter((index) => !library.has(index)) : [];
      if (indexes.length === 0) return undefined;
      return (async () => {
        const pause = createTimeSlice();
        for (const index of indexes) await library.read(index, pause);
      })();
    },
    keeps(index, statement) {
      if (!requiresSupport) return true;
      const passage = library.readNow(index);
      const isSupported =
        passage !== undefined &&
        statement !== undefined &&
        pickQuote(statement.words, passage).support === "strong";
      if (!isSupported) removed += 1;
      return isSupported;
    },
    marked(mark, statement) {
      for (const index of mark.indexes) {
        if (quotes.length + waiting.length >= QUOTES_MAX) return;
        waiting.push({ mark, index, statement });
      }
      if (running !== undefined) return;
      running = work();
      // Whoever ends the answer is told of it; the turn may have been given up before.
      running.catch(() => undefined);
    },
    get removed() {
      return removed;
    },
    async end() {
      await running;
      return [...quotes];
    },
  };
}

const NAMED = /\d{1,4}/g;

function namedIn(text: string): number[] {
  if (!text.includes("[") && !text.includes("]")) return [];
  return [...new Set(Array.from(text.matchAll(NAMED), ([digits]) => Number(digits)))];
}

/** The sources of a turn, each read once. */
function createLibrary(sources: Pick<Sources, "get">) {
  const read = new Map<number, ReadPassage>();
  const keep = (index: number, passage: ReadPassage): ReadPassage => {
    read.set(index, passage);
    return passage;
  };
  return {
    has: (index: number) => read.has(index) || sources.get(index) === undefined,
    readNow(index: number): ReadPassage | undefined {
      const citation = sources.get(index);
      if (citation === undefined) return undefined;
      return read.get(index) ?? keep(index, readWhole(citation.text, citation.document_name));
    },
    async read(index: number, pause: () => Promise<void> | undefined): Promise<ReadPassage | undefined> {
      const citation = sources.get(index);
      const known = read.get(index);
      if (citation === undefined || known !== undefined) return known;
      const steps = readPassage(citation.text, citation.document_name);
      for (;;) {
        const step = steps.next();
        if (step.done === true) return keep(index, step.value);
        await pause();
      }
    },
  };
}
