/** The only reader of a chat provider's stream of events: text in, what the model said out. */
import { APIError } from "openai";
import { createParser } from "eventsource-parser";
import type { ChatEvent, Usage } from "./chat-model.ts";
import { providerGarbage } from "../provider/error.ts";
import { collectToolCalls, type ToolCallDelta } from "./tool-call-deltas.ts";

export interface ChatStreamReader {
  /** What a piece of the stream adds. A fault behind good events is thrown by the next call, so that they are seen. */
  read(piece: string): readonly ChatEvent[];
  /** True behind `[DONE]`, and where the stream is at fault. */
  readonly isDone: boolean;
  /** The last events. @throws what is wrong with the stream: DomainError, APIError, SyntaxError. */
  end(): readonly ChatEvent[];
}

/** What is read of a chunk; providers leave out or null whatever they like. */
interface Delta {
  readonly content?: string | null;
  readonly refusal?: string | null;
  readonly tool_calls?: readonly ToolCallDelta[] | null;
}

interface Chunk {
  readonly choices?: ReadonlyArray<{
    readonly delta?: Delta | null;
    readonly finish_reason?: string | null;
  }> | null;
  readonly usage?: { readonly prompt_tokens?: number; readonly completion_tokens?: number } | null;
  readonly error?: object | null;
}

/** Of one answer: far more than any model writes. */
const MAX_ANSWER_CHARACTERS = 8 * 1_048_576;
/** Of an event that has not ended. */
const MAX_EVENT_CHARACTERS = 4 * 1_048_576;

export function createChatStreamReader(): ChatStreamReader {
  const calls = collectToolCalls();
  let characters = 0;
  let endedWithReturn = false;
  let events: ChatEvent[] = [];
  let reason: string | undefined;
  let usage: Usage | null = null;
  let isDone = false;
  let fault: unknown;

  const take = (chunk: Chunk): void => {
    if (chunk.usage) usage = toUsage(chunk.usage);
    const choice = chunk.choices?.[0];
    if (choice === undefined) return;
    const delta = choice.delta ?? {};
    const text = textOf(delta);
    characters += text.length;
    if (characters > MAX_ANSWER_CHARACTERS) throw providerGarbage("it is too long");
    if (text !== "") events.push({ type: "content", text });
    for (const call of delta.tool_calls ?? []) calls.add(call);
    reason = choice.finish_reason ?? reason;
  };
  const parser = createParser({
    maxBufferSize: MAX_EVENT_CHARACTERS,
    onError({ type }) {
      if (type !== "max-buffer-size-exceeded") return;
      fault ??= providerGarbage("an event is too large");
      isDone = true;
    },
    onEvent({ event, data }) {
      if (isDone) return;
      if (data === "[DONE]") {
        isDone = true;
        return;
      }
      try {
        take(asChunk(JSON.parse(data), event));
      } catch (error) {
        fault = error;
        isDone = true;
      }
    },
  });
  /** Lines may end in three ways, and the parser looks for all of them from each line on where it meets a carriage return. */
  const withLineFeeds = (piece: string): string => {
    const text = endedWithReturn && piece.startsWith("\n") ? piece.slice(1) : piece;
    endedWithReturn = piece.endsWith("\r");
    return text.replaceAll(/\r\n?/g, "\n");
  };
  const taken = (): readonly ChatEvent[] => {
    const all = events;
    events = [];
    return all;
  };

  return {
    get isDone() {
      return isDone;
    },
    read(piece) {
      if (!isDone) parser.feed(withLineFeeds(piece));
      return taken();
    },
    end() {
      // Some servers leave out the empty line behind the last event.
      if (!isDone) parser.feed("\n\n");
      if (fault !== undefined) throw fault;
      if (reason === undefined) throw providerGarbage("it ended too early");
      return [
        ...taken(),
        ...(calls.isEmpty ? [] : [{ type: "tool_calls", calls: calls.finish() } as const]),
        { type: "finish", reason, usage },
      ];
    },
  };
}

function asChunk(received: unknown, event: string | undefined): Chunk {
  if (typeof received !== "object" || received === null) throw providerGarbage("a chunk is no object");
  const chunk: Chunk = received;
  if (event === "error" || chunk.error)
    throw new APIError(undefined, chunk.error ?? received, undefined, undefined);
  return chunk;
}

function toUsage(usage: NonNullable<Chunk["usage"]>): Usage {
  const prompt = usage.prompt_tokens ?? 0;
  const completion = usage.completion_tokens ?? 0;
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
}

function textOf({ content, refusal }: Delta): string {
  const text = content ?? refusal;
  return typeof text === "string" ? text : "";
}
