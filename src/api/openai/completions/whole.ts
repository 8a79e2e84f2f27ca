/** Answers a chat with one JSON body: when its turn has ended, or from a kept answer. */
import { withTotal } from "../../../agents/usage.ts";
import { DomainError } from "../../../domain/errors.ts";
import { urlCitations } from "./annotations.ts";
import { type StreamOptions, completionId, throwFailure } from "./streamed.ts";
import type { RecordEvent } from "../../turns/answers/read-record.ts";
import type { TurnRecord } from "../../turns/answers/record.ts";
import type { AnswerSink, Completed, Turn, TurnResult } from "../../turns/turn.ts";

type WholeOptions = Pick<StreamOptions, "head" | "showCitations" | "publicUrl">;

/** Waits for the turn that `begin` starts. @throws DomainError of a turn that has no answer. */
export async function wholeAnswer(
  begin: (sink: AnswerSink) => Promise<Turn>,
  options: WholeOptions,
  record?: TurnRecord,
) {
  const pieces: string[] = [];
  const turn = await begin({
    isCommitted: false,
    begun: () => undefined,
    shown: (documentIds) => record?.shown(documentIds),
    content(text) {
      pieces.push(text);
      record?.piece(text);
      return undefined;
    },
  });
  return completion(turn.row.id, pieces, await turn.result, options);
}

/** Gives the same answer from a kept one. @throws DomainError of a turn without answer, and `turn_lost`. */
export async function replayedWhole(
  events: AsyncGenerator<RecordEvent>,
  turnId: string,
  options: WholeOptions,
) {
  const pieces: string[] = [];
  for await (const event of events) {
    if (event.type === "end") return completion(turnId, pieces, event.result, options);
    pieces.push(event.text);
  }
  throw new DomainError("turn_lost", "The turn has no end.");
}

function completion(
  turnId: string,
  pieces: readonly string[],
  result: TurnResult,
  { head, showCitations, publicUrl }: WholeOptions,
) {
  if (result.status !== "completed") {
    throwFailure(result);
    throw new DomainError("internal", "A turn without an answer did not fail.");
  }
  const content = pieces.join("");
  return {
    id: completionId(turnId),
    object: "chat.completion" as const,
    ...head,
    choices: [
      {
        index: 0,
        message: {
          role: "assistant" as const,
          content,
          tool_calls: null,
          refusal: null,
          ...(showCitations ? { annotations: urlCitations(result, publicUrl) } : {}),
        },
        finish_reason: result.finishReason,
        logprobs: null,
      },
    ],
    usage: withTotal(result.usage),
    system_fingerprint: null,
    service_tier: null,
    ...(showCitations ? citationFields(result) : {}),
  };
}

function citationFields({ citations, removedCitations }: Completed) {
  return {
    citations: citations.map(({ locations, ...citation }) => ({
      ...citation,
      ...(locations === undefined ? {} : { locations: [...locations] }),
    })),
    ...(removedCitations === undefined ? {} : { removed_citations: removedCitations }),
  };
}
