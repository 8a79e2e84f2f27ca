/** The only place that makes one model call of a turn: tried again until its first piece has left, never after. */
import { setTimeout as sleep } from "node:timers/promises";
import { DomainError } from "../../domain/errors.ts";
import type { ToolCall } from "../../domain/turn.ts";
import type { ChatModel, ChatRequest } from "../../models/chat-model.ts";

export interface ModelAnswer {
  readonly text: string;
  readonly calls: readonly ToolCall[];
  /** Why the model stopped: stop, length, tool_calls, content_filter. */
  readonly reason: string;
  /** Null where the provider did not say. */
  readonly usage: { readonly prompt_tokens: number; readonly completion_tokens: number } | null;
  /** Where another model answered than was asked. */
  readonly model?: string | undefined;
}

interface Listener {
  /** The model has begun to answer. */
  begun(): void;
  /** A promise where the reader is slow: the next piece is not read before it resolves. */
  content(text: string): Promise<void> | undefined;
}

/** How long a call may be tried again before it fails; a longer `Retry-After` is the caller's to honour. */
const RETRY_WINDOW_MS = 3_000;
const FIRST_WAIT_MS = 250;

/** @throws DomainError as the model does; the reason of `signal` once it is aborted. */
export async function callModel(model: ChatModel, request: ChatRequest, listener: Listener, signal: AbortSignal): Promise<ModelAnswer> {
  const giveUpAt = Date.now() + RETRY_WINDOW_MS;
  for (let attempt = 0; ; attempt += 1) {
    let hasBegun = false;
    try {
      return await readAnswer(model, request, { ...listener, begun: () => ((hasBegun = true), listener.begun()) }, signal);
    } catch (error) {
      signal.throwIfAborted();
      const waitMs = hasBegun ? null : waitBeforeRetry(error, attempt);
      if (waitMs === null || Date.now() + waitMs > giveUpAt) throw error;
      await sleep(waitMs, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  }
}

/** Milliseconds; null for what another attempt cannot help. */
function waitBeforeRetry(error: unknown, attempt: number): number | null {
  if (!(error instanceof DomainError) || error.class !== "outage") return null;
  return Math.max(FIRST_WAIT_MS * 2 ** attempt, (error.retryAfterSeconds ?? 0) * 1_000);
}

async function readAnswer(model: ChatModel, request: ChatRequest, listener: Listener, signal: AbortSignal): Promise<ModelAnswer> {
  const pieces: string[] = [];
  let calls: readonly ToolCall[] = [];
  for await (const event of model.stream(request, signal)) {
    signal.throwIfAborted();
    listener.begun();
    if (event.type === "content") {
      pieces.push(event.text);
      await listener.content(event.text);
    } else if (event.type === "tool_calls") calls = event.calls;
    else return { text: pieces.join(""), calls, reason: event.reason, usage: event.usage, model: event.model };
  }
  signal.throwIfAborted();
  throw new DomainError("provider_unavailable", "The model provider's answer ended early.");
}
