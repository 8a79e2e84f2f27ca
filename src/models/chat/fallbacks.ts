/** Asks another chat provider if the first one is down. */
import { DomainError } from "../../domain/errors.ts";
import type { ChatEvent, ChatModel, ChatRequest } from "./types.ts";

/**
 * The first model; if it fails with an outage before its first event, the others are asked in order. A
 * fallback is asked for its own model, whichever the agent names, and its `finish` event names that model.
 */
export function withFallbacks(first: ChatModel, others: readonly ChatModel[]): ChatModel {
  if (others.length === 0) return first;
  return {
    ...first,
    names: [...new Set([first, ...others].flatMap(({ names }) => names))],
    stream(request, signal) {
      const named = request.isExact ? others.find(({ name }) => name === request.model) : undefined;
      return named === undefined || request.model === first.name
        ? streamFromAny(first, others, request, signal)
        : named.stream(request, signal);
    },
  };
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
    const isFallback = index > 0;
    const asked = isFallback ? { ...request, model: model.name } : request;
    try {
      for await (const event of model.stream(asked, signal)) {
        hasBegun = true;
        yield isFallback && event.type === "finish" ? { ...event, model: model.name } : event;
      }
      return;
    } catch (error) {
      firstError ??= error;
      signal.throwIfAborted();
      if (hasBegun || !(error instanceof DomainError) || error.class !== "outage") throw error;
    }
  }
  // The caller can do something about the provider of choice, so its failure is the one to report.
  throw firstError;
}
