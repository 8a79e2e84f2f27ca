/** Makes one model call of a turn. It is tried again until its first piece was passed on, never after. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Usage } from "../../agents/usage.ts";
import { DomainError } from "../../domain/errors.ts";
import type { ToolCall } from "../../domain/work/turn.ts";
import type { ChatModel, ChatRequest } from "../../models/chat/chat-model.ts";

export interface ModelAnswer {
  readonly text: string;
  readonly calls: readonly ToolCall[];
  /** Why the model stopped: stop, length, tool_calls, content_filter. */
  readonly reason: string;
  /** Null if the provider did not say. */
  readonly usage: Usage | null;
  /** The model that answered, if it is not the one that was asked. */
  readonly model?: string | undefined;
}

interface Listener {
  /** The model has begun to answer. */
  begun(): void;
  /** A try has failed, and another one follows. */
  waits?(error: DomainError): void;
  /** Returns a promise if the reader is slow: the next piece is not read before it resolves. */
  content(text: string): Promise<void> | undefined;
}

interface Bounds {
  readonly signal: AbortSignal;
  /**
   * No try begins after this time (`Date.now()`). The error of a provider that asks to wait longer is thrown
   * at once.
   */
  readonly retryUntilMs: number;
}

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 8_000;
/** Up to this share is added to each wait at random, so that turns that failed together retry apart. */
const JITTER = 0.25;

/**
 * Waits 250 ms before the second try and twice as long before each next one, at most 8 s, or as long as
 * `Retry-After` says.
 * @throws the DomainError of the last try; the reason of `signal` once it is aborted.
 */
export async function callModel(
  model: ChatModel,
  request: ChatRequest,
  listener: Listener,
  { signal, retryUntilMs }: Bounds,
): Promise<ModelAnswer> {
  for (let tries = 0; ; tries += 1) {
    let hasBegun = false;
    const begun = (): void => {
      hasBegun = true;
      listener.begun();
    };
    try {
      return await readAnswer(model, request, { ...listener, begun }, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (hasBegun || !isOutage(error)) throw error;
      const waitMs = waitBeforeRetry(error, tries);
      if (Date.now() + waitMs > retryUntilMs) throw error;
      listener.waits?.(error);
      await sleep(waitMs, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  }
}

/** Of other failures a retry cannot help. */
const isOutage = (error: unknown): error is DomainError => error instanceof DomainError && error.passes;

/** @returns milliseconds. */
function waitBeforeRetry({ retryAfterSeconds = 0 }: DomainError, tries: number): number {
  const ownWaitMs = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** tries);
  return Math.max(ownWaitMs, retryAfterSeconds * 1_000) * (1 + JITTER * Math.random());
}

async function readAnswer(
  model: ChatModel,
  request: ChatRequest,
  listener: Listener,
  signal: AbortSignal,
): Promise<ModelAnswer> {
  const pieces: string[] = [];
  let calls: readonly ToolCall[] = [];
  for await (const event of model.stream(request, signal)) {
    signal.throwIfAborted();
    listener.begun();
    if (event.type === "content") {
      pieces.push(event.text);
      await listener.content(event.text);
    } else if (event.type === "tool_calls") calls = event.calls;
    else
      return { text: pieces.join(""), calls, reason: event.reason, usage: event.usage, model: event.model };
  }
  signal.throwIfAborted();
  throw new DomainError("provider_unavailable", "The model provider's answer ended early.");
}
