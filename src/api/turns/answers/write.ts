/** Makes one answer of a turn's model calls: a paragraph for each call, with citation marks checked. */
import { createCitationFilter, MARK_CHARACTERS } from "../../../agents/citations.ts";
import { type MarkedQuote, createQuoter } from "../../../agents/quotes/quoter.ts";
import type { SecondLook } from "../../../agents/quotes/second-look.ts";
import type { Citation, Sources } from "../../../agents/sources.ts";
import type { Agent } from "../../../db/turns/agents-in-chat.ts";
import type { AnswerSink } from "../turn.ts";

export interface AnswerWriter {
  /** The next piece comes from another model call and starts a new paragraph. */
  startPart(): void;
  /** Returns a promise if the reader is slow, or if sources are read before the piece may be shown. */
  write(text: string): Promise<void> | undefined;
  /** Sends the rest, which may have been the beginning of a citation mark. */
  end(): Promise<WrittenAnswer>;
}

interface WrittenAnswer {
  readonly citations: readonly Citation[];
  readonly quotes: readonly MarkedQuote[];
  /** Sources that were taken out of marks because they do not support the statement. */
  readonly removed: number;
}

export function createAnswerWriter(
  sink: AnswerSink,
  sources: Sources,
  agent: Pick<Agent, "show_citations" | "require_support">,
  secondLook?: SecondLook,
): AnswerWriter {
  const quoter = createQuoter(sources, { requiresSupport: agent.require_support, secondLook });
  const filter = createCitationFilter(sources, quoter);
  let hasText = false;
  let isNewPart = false;
  /** The end of what was written, in which a mark may have begun. */
  let tail = "";
  const pass = (shown: string): Promise<void> | undefined => (shown === "" ? undefined : sink.content(shown));
  return {
    startPart() {
      isNewPart = true;
    },
    write(text) {
      if (text === "") return undefined;
      const piece = isNewPart && hasText ? `\n\n${text}` : text;
      hasText = true;
      isNewPart = false;
      if (!agent.show_citations) return pass(piece);
      const prepared = quoter.prepare(tail + piece);
      tail = (tail + piece).slice(-MARK_CHARACTERS);
      return prepared === undefined
        ? pass(filter.write(piece))
        : prepared.then(() => pass(filter.write(piece)));
    },
    async end() {
      await pass(filter.end());
      return { citations: filter.cited(), quotes: await quoter.end(), removed: quoter.removed };
    },
  };
}
