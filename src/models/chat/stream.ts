/** Reads a chat provider's stream of server-sent events: text in, what the model said out. */
import { APIError } from "openai";
import { createParser } from "eventsource-parser";
import type { ChatEvent, Usage } from "./types.ts";
import { providerGarbage } from "../provider/error.ts";
import { collectToolCalls, type ToolCallDelta } from "./tool-call-deltas.ts";

export interface ChatStreamReader {
  /** The events that a piece of the stream completes. A fault after them is thrown by `end`: none is lost. */
  read(piece: string): readonly ChatEvent[];
  /** True after `[DONE]`, and after a fault in the stream. */
  readonly isDone: boolean;
  /** The last events. @throws what is wrong with the stream: a DomainError, APIError or SyntaxError. */
  end(): readonly ChatEvent[];
}

/** The fields of a chunk that are read. Any of them may be missing or null, depending on the provider. */
interface Delta {
  readonly content?: string | null;
  readonly refusal?: string | null;
  readonly tool_calls?: readonly ToolCallDelta[] | null;
}

interface ReportedUsage {
  readonly prompt_tokens?: number;
  readonly completion_tokens?: number;
  readonly prompt_tokens_details?: { readonly cached_tokens?: unknown } | null;
  readonly completion_tokens_details?: { readonly reasoning_tokens?: unknown } | null;
}

interface Chunk {
  readonly choices?: ReadonlyArray<{
    readonly delta?: Delta | null;
    readonly finish_reason?: string | null;
  }> | null;
  readonly usage?: ReportedUsage | null;
  readonly error?: object | null;
}

/** Characters of one answer; far more than any model writes. */
const MAX_ANSWER_CHARACTERS = 8 * 1_048_576;
/** Characters of an event that has not ended yet. */
const MAX_EVENT_CHARACTERS = 4 * 1_048_576;

export function createChatStreamReader(): ChatStreamReader {
  const answer = createAnswer();
  const withLineFeeds = createLineEndings();
  let isDone = false;
  let fault: unknown;
  const failWith = (error: unknown): void => {
    fault ??= error;
    isDone = true;
  };
  const parser = createParser({
    maxBufferSize: MAX_EVENT_CHARACTERS,
    onError({ type }) {
      if (type === "max-buffer-size-exceeded") failWith(providerGarbage("an event is too large"));
    },
    onEvent({ event, data }) {
      if (isDone) return;
      if (data === "[DONE]") {
        isDone = true;
        return;
      }
      try {
        answer.add(asChunk(JSON.parse(data), event));
      } catch (error) {
        failWith(error);
      }
    },
  });
  return {
    get isDone() {
      return isDone;
    },
    read(piece) {
      if (!isDone) parser.feed(withLineFeeds(piece));
      return answer.takeEvents();
    },
    end() {
      // Some servers leave out the empty line after the last event.
      if (!isDone) parser.feed("\n\n");
      if (fault !== undefined) throw fault;
      return answer.end();
    },
  };
}

/** Gathers what the chunks of one answer say. */
function createAnswer() {
  const calls = collectToolCalls();
  let characters = 0;
  let events: ChatEvent[] = [];
  let reason: string | undefined;
  let usage: Usage | null = null;
  const takeEvents = (): readonly ChatEvent[] => {
    const taken = events;
    events = [];
    return taken;
  };
  return {
    /** @throws DomainError `provider_unavailable` if the answer becomes too long. */
    add(chunk: Chunk): void {
      if (chunk.usage) usage = toUsage(chunk.usage);
      const choice = chunk.choices?.[0];
      if (choice === undefined) return;
      const delta = choice.delta ?? {};
      const text = deltaText(delta);
      characters += text.length;
      if (characters > MAX_ANSWER_CHARACTERS) throw providerGarbage("it is too long");
      if (text !== "") events.push({ type: "content", text });
      for (const call of delta.tool_calls ?? []) calls.add(call);
      reason = choice.finish_reason ?? reason;
    },
    takeEvents,
    /** The last events. @throws DomainError `provider_unavailable` if the model has not said it finished. */
    end(): readonly ChatEvent[] {
      if (reason === undefined) throw providerGarbage("it ended too early");
      return [
        ...takeEvents(),
        ...(calls.isEmpty ? [] : [{ type: "tool_calls", calls: calls.finish() } as const]),
        { type: "finish", reason, usage },
      ];
    },
  };
}

/**
 * Turns all line ends of a stream into line feeds, also a pair that two pieces share. The parser would do it
 * too, but after a carriage return it looks for all three kinds of line end from each line on.
 */
function createLineEndings(): (piece: string) => string {
  let endedWithReturn = false;
  return (piece) => {
    const text = endedWithReturn && piece.startsWith("\n") ? piece.slice(1) : piece;
    endedWithReturn = piece.endsWith("\r");
    return text.replaceAll(/\r\n?/g, "\n");
  };
}

function asChunk(received: unknown, event: string | undefined): Chunk {
  if (typeof received !== "object" || received === null) throw providerGarbage("a chunk is no object");
  const chunk: Chunk = received;
  if (event === "error" || chunk.error)
    throw new APIError(undefined, chunk.error ?? received, undefined, undefined);
  return chunk;
}

function toUsage(usage: ReportedUsage): Usage {
  const prompt = usage.prompt_tokens ?? 0;
  const completion = usage.completion_tokens ?? 0;
  const cached = usage.prompt_tokens_details?.cached_tokens;
  const reasoning = usage.completion_tokens_details?.reasoning_tokens;
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    ...(typeof cached === "number" ? { cached_tokens: cached } : {}),
    ...(typeof reasoning === "number" ? { reasoning_tokens: reasoning } : {}),
  };
}

function deltaText({ content, refusal }: Delta): string {
  const text = content ?? refusal;
  return typeof text === "string" ? text : "";
}
