/**
 * Turns the texts of a turn's model calls into one answer: a paragraph for each call, with citation marks
 * checked.
 */
import { createCitationFilter } from "../../../agents/citations.ts";
import type { Citation, Sources } from "../../../agents/sources.ts";
import type { AnswerSink } from "../turn.ts";

export interface AnswerWriter {
  /** The next piece comes from another model call and starts a new paragraph. */
  startPart(): void;
  /** Returns a promise if the reader is slow. */
  write(text: string): Promise<void> | undefined;
  /** Sends the rest, which may have been the beginning of a citation mark. @returns the cited sources. */
  end(): Promise<readonly Citation[]>;
}

export function createAnswerWriter(
  sink: AnswerSink,
  sources: Sources,
  checksCitations: boolean,
): AnswerWriter {
  const filter = createCitationFilter(sources);
  let hasText = false;
  let isNewPart = false;
  return {
    startPart() {
      isNewPart = true;
    },
    write(text) {
      if (text === "") return undefined;
      const joint = isNewPart && hasText ? "\n\n" : "";
      hasText = true;
      isNewPart = false;
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
