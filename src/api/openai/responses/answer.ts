/** Answers with a response while its client waits: whole, or as its events come. */
import { DomainError } from "../../../domain/errors.ts";
import { type StreamAnswer, stream } from "../../response.ts";
import { type EventStream, openEventStream } from "../../sse.ts";
import type { AnswerSink, Turn, TurnResult } from "../../turns/turn.ts";
import { type DraftHead, ResponseDraft } from "./draft.ts";
import type { ResponseEvent, ResponseObject } from "./items.ts";

export interface AnswerParts {
  readonly head: DraftHead;
  readonly pingMs: number;
  readonly begin: (sink: AnswerSink) => Promise<Turn>;
  /** Called before the model is shown these documents. */
  readonly shown: (documentIds: readonly string[]) => void;
  /** Called once, with what is to be kept, when the response has ended otherwise than by a refusal. */
  readonly ended: (response: ResponseObject) => void;
  /** The error that the caller gets in place of a response. Nothing is kept then. */
  readonly asRefusal: (error: DomainError) => DomainError;
  /** Called if the client goes away. */
  readonly leave: (turn: Turn) => void;
}

/** @throws DomainError of a turn that failed, or was cancelled. */
export async function wholeResponse(parts: AnswerParts): Promise<ResponseObject> {
  const draft = new ResponseDraft(parts.head, () => undefined);
  const turn = await parts.begin({
    isCommitted: false,
    begun: () => undefined,
    shown: parts.shown,
    content: (text) => draft.text(text),
    search: (progress) => draft.search(progress),
  });
  const result = await turn.result;
  if (result.status !== "completed") throw refusalOf(result, parts);
  draft.finish(result);
  parts.ended(draft.kept);
  return draft.response;
}

/**
 * Streams the events. As in chat nothing is sent before the model has begun, so that a failure has a status
 * of its own; after `pingMs` the stream is opened anyway.
 * @throws DomainError of a turn that failed before.
 */
export async function streamedResponse(parts: AnswerParts): Promise<StreamAnswer> {
  const opened = Promise.withResolvers<EventStream>();
  const begun = Promise.withResolvers<void>();
  let events: EventStream | undefined;
  let isCommitted = false;
  const draft = new ResponseDraft(parts.head, (event) => {
    const text = JSON.stringify(event);
    return events === undefined
      ? opened.promise.then((writer) => sent(writer, event, text))
      : sent(events, event, text);
  });
  const commit = (): void => {
    if (isCommitted) return;
    isCommitted = true;
    draft.begin();
    begun.resolve();
  };
  const turn = await parts.begin({
    get isCommitted() {
      return isCommitted;
    },
    begun: commit,
    shown: parts.shown,
    content: (text) => draft.text(text),
    search(progress) {
      commit();
      draft.search(progress);
    },
  });
  const patience = setTimeout(begun.resolve, parts.pingMs);
  await Promise.race([begun.promise, turn.result]);
  clearTimeout(patience);
  if (turn.status !== undefined && !isCommitted) {
    const result = await turn.result;
    if (result.status !== "completed") throw refusalOf(result, parts);
  }
  commit();
  return stream(async (res) => {
    const writer = openEventStream(res, { pingMs: parts.pingMs });
    const leave = (): void => parts.leave(turn);
    // The client left between the first piece and now.
    if (res.destroyed) leave();
    writer.closed.addEventListener("abort", leave, { once: true });
    opened.resolve(writer);
    // What has waited for the stream is sent before what comes now.
    await Promise.resolve();
    events = writer;
    const result = await turn.result;
    draft.finish(result);
    parts.ended(draft.kept);
    if (result.status === "cancelled") res.destroy();
    else writer.end();
  });
}

async function sent(writer: EventStream, event: ResponseEvent, text: string): Promise<void> {
  await writer.send(text, undefined, event.type);
}

function refusalOf(
  result: Exclude<TurnResult, { status: "completed" }>,
  { asRefusal }: AnswerParts,
): DomainError {
  return asRefusal(
    result.status === "failed" ? result.error : new DomainError("cancelled", "The request was cancelled."),
  );
}
