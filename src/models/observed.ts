/** Measures each call of a model: how long it took, how it ended, its tokens; and opens its span. */
import { DomainError } from "../domain/errors.ts";
import { providerCalls, providerFirstEvent, providerTokens } from "../telemetry/instruments.ts";
import { type OpenSpan, inSpan, openSpan } from "../telemetry/span.ts";
import type { ChatEvent, ChatModel, ChatRequest, Usage } from "./chat/types.ts";
import type { EmbeddingModel } from "./embedding/types.ts";
import type { Reranker } from "./rerank/types.ts";

type Operation = "embed_query" | "embed_passage" | "chat" | "rerank" | "rerank_by_model";

const secondsSince = (startedAt: number): number => (performance.now() - startedAt) / 1_000;

function outcomeOf(error: unknown, signal: AbortSignal | undefined): string {
  if (signal?.aborted) return "aborted";
  return error instanceof DomainError ? error.code : "internal";
}

async function measured<T>(
  operation: Operation,
  signal: AbortSignal | undefined,
  work: () => Promise<T>,
): Promise<T> {
  const startedAt = performance.now();
  let outcome = "ok";
  try {
    return await work();
  } catch (error) {
    outcome = outcomeOf(error, signal);
    throw error;
  } finally {
    providerCalls.observe({ operation, outcome }, secondsSince(startedAt));
  }
}

export function observedEmbeddings(model: EmbeddingModel): EmbeddingModel {
  return {
    ...model,
    embed(texts, kind, signal) {
      const operation = kind === "query" ? "embed_query" : "embed_passage";
      const attributes = {
        "gen_ai.operation.name": "embeddings",
        "gen_ai.request.model": model.name,
        "holdfast.texts": texts.length,
      };
      return measured(operation, signal, () =>
        inSpan(`model ${operation}`, { kind: "client", attributes }, () => model.embed(texts, kind, signal)),
      );
    },
  };
}

/** @param operation of one by a chat model, whose calls are measured as `chat` as well, its own. */
export function observedReranker(
  reranker: Reranker,
  operation: "rerank" | "rerank_by_model" = "rerank",
): Reranker {
  return {
    rank: (query, texts, signal) =>
      measured(operation, signal, () =>
        inSpan(`model ${operation}`, { kind: "client", attributes: { "holdfast.texts": texts.length } }, () =>
          reranker.rank(query, texts, signal),
        ),
      ),
  };
}

export function observedChat(model: ChatModel): ChatModel {
  return { ...model, stream: (request, signal) => observedStream(model, request, signal) };
}

function countTokens(usage: Usage | null, span: OpenSpan): void {
  if (usage === null) return;
  const { prompt_tokens: prompt, completion_tokens: completion } = usage;
  providerTokens.inc({ operation: "chat", direction: "input" }, prompt);
  providerTokens.inc({ operation: "chat", direction: "output" }, completion);
  span.set({ "gen_ai.usage.input_tokens": prompt, "gen_ai.usage.output_tokens": completion });
}

/** The call counts as `aborted` if the reader leaves before the model has finished. */
async function* observedStream(
  model: ChatModel,
  request: ChatRequest,
  signal: AbortSignal,
): AsyncGenerator<ChatEvent> {
  const startedAt = performance.now();
  const span = openSpan("model chat", {
    kind: "client",
    attributes: { "gen_ai.operation.name": "chat", "gen_ai.request.model": model.name },
  });
  const events = model.stream(request, signal)[Symbol.asyncIterator]();
  let outcome = "aborted";
  let failure: unknown;
  let hasBegun = false;
  try {
    for (;;) {
      const step = await span.run(() => events.next());
      if (step.done === true) return;
      if (!hasBegun) providerFirstEvent.observe(secondsSince(startedAt));
      hasBegun = true;
      if (step.value.type === "finish") {
        outcome = "ok";
        countTokens(step.value.usage, span);
      }
      yield step.value;
    }
  } catch (error) {
    failure = error;
    outcome = outcomeOf(error, signal);
    throw error;
  } finally {
    await events.return?.(undefined);
    providerCalls.observe({ operation: "chat", outcome }, secondsSince(startedAt));
    span.end(failure);
  }
}
