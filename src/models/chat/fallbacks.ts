/** The only place that asks another provider where the first is down. */
import { DomainError } from "../../domain/errors.ts";
import type { ChatEvent, ChatModel, ChatRequest } from "./chat-model.ts";

/**
 * The first model, and in its place, in order, the others where it fails with an outage before its first event. A fallback is asked
 * for its own model, whatever the agent names; the `finish` event says so.
 */
export function withFallbacks(first: ChatModel, others: readonly ChatModel[]): ChatModel {
  if (others.length === 0) return first;
  return { ...first, stream: (request, signal) => streamFromAny(first, others, request, signal) };
}

async function* streamFromAny(
  first: ChatModel,
  others: readonly ChatModel[],
  request: ChatRequest,
  signal: AbortSignal,
): AsyncGenerator<ChatEvent> {
  let hasBegun = false;
  let firstError: unknown;
  for (const [index, model] of [first, ...others].entries()) {
    try {
      for await (const event of model.stream(
        index === 0 ? request : { ...request, model: model.name },
        signal,
      )) {
        hasBegun = true;
        yield index > 0 && event.type === "finish" ? { ...event, model: model.name } : event;
      }
      return;
    } catch (error) {
      firstError ??= error;
      signal.throwIfAborted();
      if (hasBegun || !(error instanceof DomainError) || error.class !== "outage") throw error;
    }
  }
  // What is wrong with the provider of choice is what its caller can do something about.
  throw firstError;
}
