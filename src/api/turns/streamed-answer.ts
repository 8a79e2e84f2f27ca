/** The only place that writes a chat answer as server-sent events. */
import type { ServerResponse } from "node:http";
import type { Citation } from "../../agents/sources.ts";
import { DomainError } from "../../domain/errors.ts";
import { type StreamAnswer, stream } from "../response.ts";
import { type EventStream, openEventStream } from "../sse.ts";
import type { AnswerSink, Turn, TurnResult } from "./turn.ts";

/** What all chunks of an answer have in common. */
interface CompletionHead {
  readonly id: string;
  readonly created: number;
  readonly model: string;
}

interface StreamOptions {
  readonly head: Omit<CompletionHead, "id">;
  readonly includeUsage: boolean;
  readonly showCitations: boolean;
}

/** After this long without a first piece the head goes out, so that no proxy takes the wait for a dead connection. */
const HEAD_AFTER_MS = 15_000;

/**
 * Begins a turn by `begin` and waits for its first piece.
 * @throws DomainError of a turn that failed before its first byte; it has the status of the answer.
 */
export async function streamedAnswer(begin: (sink: AnswerSink) => Promise<Turn>, options: StreamOptions): Promise<StreamAnswer> {
  const opened = Promise.withResolvers<ChunkWriter>();
  const begun = Promise.withResolvers<void>();
  let isCommitted = false;
  const turn = await begin({
    get isCommitted() {
      return isCommitted;
    },
    begun() {
      isCommitted = true;
      begun.resolve();
    },
    content: async (text) => (await opened.promise).content(text),
  });
  const patience = setTimeout(begun.resolve, HEAD_AFTER_MS);
  await Promise.race([begun.promise, turn.result]);
  clearTimeout(patience);
  if (turn.status !== undefined && !isCommitted) throwFailure(await turn.result);
  isCommitted = true;
  return stream(async (res) => {
    const writer = openWriter(res, turn, options);
    opened.resolve(writer);
    writer.finish(await turn.result);
  });
}

function throwFailure(result: TurnResult): void {
  if (result.status === "failed") throw result.error;
  if (result.status === "cancelled") throw new DomainError("cancelled", "The request was cancelled.");
}

interface ChunkWriter {
  content(text: string): Promise<void>;
  /** Ends the stream; what the client has not read yet is sent as it reads. */
  finish(result: TurnResult): void;
}

function openWriter(res: ServerResponse, turn: Turn, { head, includeUsage, showCitations }: StreamOptions): ChunkWriter {
  const events = openEventStream(res);
  // A client that left between its first piece and now.
  if (res.destroyed) turn.abort();
  events.closed.addEventListener("abort", () => turn.abort(), { once: true });
  const chunk = chunkMaker({ id: `chatcmpl-${turn.row.id}`, ...head });
  void events.send(chunk(choice('{"role":"assistant","content":""}')));
  return {
    async content(text) {
      await events.send(chunk(choice(contentDelta(text))));
    },
    finish(result) {
      if (result.status === "cancelled") {
        res.destroy();
        return;
      }
      if (result.status === "failed") return sendError(events, result.error);
      if (showCitations && result.citations.length > 0) void events.send(chunk(choice(contentDelta("")), citationsField(result.citations)));
      void events.send(chunk(choice("{}", result.finishReason)));
      const { prompt_tokens, completion_tokens } = result.usage;
      if (includeUsage) void events.send(chunk("", "", JSON.stringify({ prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens })));
      void events.send("[DONE]");
      events.end();
    },
  };
}

/** No `[DONE]` follows: a cut answer cannot be taken for a whole one. */
function sendError(events: EventStream, { status, message, code }: DomainError): void {
  const type = status === 429 ? "rate_limit_error" : "server_error";
  void events.send(JSON.stringify({ error: { message: code === "internal" ? "Internal Server Error" : message, type, code } }));
  events.end();
}

/** Chunks are put together as text: only what differs is serialized for each piece. */
function chunkMaker({ id, created, model }: CompletionHead): (choices: string, more?: string, usage?: string) => string {
  const before = `{"id":${JSON.stringify(id)},"object":"chat.completion.chunk","created":${created},"model":${JSON.stringify(model)},"choices":[`;
  return (choices, more = "", usage = "null") => `${before}${choices}],"usage":${usage},"system_fingerprint":null,"service_tier":null${more}}`;
}

function choice(delta: string, finishReason: string | null = null): string {
  return `{"index":0,"delta":${delta},"finish_reason":${JSON.stringify(finishReason)},"logprobs":null}`;
}

function contentDelta(text: string): string {
  return `{"content":${JSON.stringify(text)}}`;
}

function citationsField(citations: readonly Citation[]): string {
  return `,"citations":${JSON.stringify(citations)}`;
}
