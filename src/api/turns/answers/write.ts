/** The only place that turns the text of a turn's model calls into one answer: calls joined by paragraphs, citation marks checked. */
import { createCitationFilter } from "../../../agents/citations.ts";
import type { Citation, Sources } from "../../../agents/sources.ts";
import type { AnswerSink } from "../turn.ts";

export interface AnswerWriter {
  /** The next piece comes from another call: its text starts a paragraph of its own. */
  startPart(): void;
  /** A promise where the reader is slow. */
  write(text: string): Promise<void> | undefined;
  /** Sends what was held back, and says which sources were cited. */
  end(): Promise<readonly Citation[]>;
}

export function createAnswerWriter(
  sink: AnswerSink,
  sources: Sources,
  checksCitations: boolean,
): AnswerWriter {
  const filter = createCitationFilter(sources);
  let [hasText, isNewPart] = [false, false];
  return {
    startPart() {
      isNewPart = true;
    },
    write(text) {
      if (text === "") return undefined;
      const joint = isNewPart && hasText ? "\n\n" : "";
      [hasText, isNewPart] = [true, false];
      const shown = checksCitations ? filter.write(joint + text) : joint + text;
      return shown === "" ? undefined : sink.content(shown);
    },
    async end() {
      const rest = filter.end();
      if (rest !== "") await sink.content(rest);
      return filter.cited();
    },
  };
}
