/** Writes the chunks of a chat answer as server-sent events. */
import type { ServerResponse } from "node:http";
import { withTotal } from "../../../agents/usage.ts";
import type { DomainError } from "../../../domain/errors.ts";
import { describeError, errorGuide } from "../../errors/error-body.ts";
import { type UrlCitation, urlCitations } from "./annotations.ts";
import { type EventStream, openEventStream } from "../../sse.ts";
import type { Completed, ToolProgress, TurnResult } from "../../turns/turn.ts";

/** The fields that are the same in all chunks of an answer. */
interface CompletionHead {
  readonly id: string;
  readonly created: number;
  readonly model: string;
}

export interface ChunkOptions {
  readonly head: CompletionHead;
  readonly includeUsage: boolean;
  readonly showCitations: boolean;
  readonly pingMs: number;
  /** The address of the service. */
  readonly publicUrl: string;
  /** The number of the last event sent before, -1 for none: the `id:` of events. Undefined: no numbers. */
  readonly afterNo?: number | undefined;
}

export interface ChunkWriter {
  /** Aborted when the client goes away. */
  readonly closed: AbortSignal;
  /** Resolves when the client can take more. @param no the number of the piece, from 1. Default: the next. */
  content(text: string, no?: number): Promise<void>;
  /** Tells of tools. It is no part of the answer, and has no number. */
  tools(progress: readonly ToolProgress[]): Promise<void>;
  /** Ends the stream. What the client has not read yet is sent as it reads. */
  finish(result: TurnResult): void;
}

export function openChunkWriter(
  res: ServerResponse,
  { head, includeUsage, showCitations, pingMs, publicUrl, afterNo }: ChunkOptions,
): ChunkWriter {
  const events = openEventStream(res, { pingMs });
  const chunk = chunkMaker(head);
  let lastNo = Math.max(0, afterNo ?? 0);
  /** The role is event 0. Citations, finish and usage come last; each has its number even if not sent. */
  const send = async (no: number, data: string): Promise<void> => {
    if (afterNo === undefined) await events.send(data);
    else if (no > afterNo) await events.send(data, String(no));
  };
  void send(0, chunk(choice('{"role":"assistant","content":""}')));
  return {
    closed: events.closed,
    async content(text, no = lastNo + 1) {
      lastNo = no;
      await send(no, chunk(choice(contentDelta(text))));
    },
    async tools(progress) {
      await events.send(chunk("", `,"tools":${JSON.stringify(progress)}`));
    },
    finish(result) {
      if (result.status === "cancelled") {
        res.destroy();
        return;
      }
      if (result.status === "failed") return sendError(events, result.error, errorGuide(publicUrl));
      if (showCitations && (result.citations.length > 0 || (result.removedCitations ?? 0) > 0))
        void send(
          lastNo + 1,
          chunk(choice(annotatedDelta(urlCitations(result, publicUrl))), citationFields(result)),
        );
      void send(lastNo + 2, chunk(choice("{}", result.finishReason)));
      if (includeUsage) void send(lastNo + 3, chunk("", "", JSON.stringify(withTotal(result.usage))));
      void events.send("[DONE]");
      events.end();
    },
  };
}

/** Sends no `[DONE]`, so that a client cannot take a cut answer for a whole one. */
function sendError(events: EventStream, error: DomainError, guide: string): void {
  void events.send(JSON.stringify({ error: describeError(error, guide) }));
  events.end();
}

/** Puts chunks together as text: only what differs between them is serialized for each piece. */
function chunkMaker({
  id,
  created,
  model,
}: CompletionHead): (choices: string, more?: string, usage?: string) => string {
  const before =
    `{"id":${JSON.stringify(id)},"object":"chat.completion.chunk","created":${created},` +
    `"model":${JSON.stringify(model)},"choices":[`;
  return (choices, more = "", usage = "null") =>
    `${before}${choices}],"usage":${usage},"system_fingerprint":null,"service_tier":null${more}}`;
}

function choice(delta: string, finishReason: string | null = null): string {
  return `{"index":0,"delta":${delta},"finish_reason":${JSON.stringify(finishReason)},"logprobs":null}`;
}

function contentDelta(text: string): string {
  return `{"content":${JSON.stringify(text)}}`;
}

function annotatedDelta(annotations: readonly UrlCitation[]): string {
  return JSON.stringify({ content: "", annotations });
}

function citationFields({ citations, removedCitations }: Completed): string {
  const removed = removedCitations === undefined ? "" : `,"removed_citations":${removedCitations}`;
  return `,"citations":${JSON.stringify(citations)}${removed}`;
}
