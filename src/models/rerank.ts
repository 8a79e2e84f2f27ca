/** The only place that asks a provider how well texts answer a question, by the `/rerank` protocol that Jina, Cohere and others share. */
import { traceHeaders } from "../telemetry/span.ts";
import { observedReranker } from "./observed.ts";
import { providerGarbage, providerTimeout } from "./provider-error.ts";
import { DomainError } from "../domain/errors.ts";

export interface Reranker {
  /**
   * How well each text answers the question, in the order given; the provider's own scale.
   * @throws DomainError `provider_timeout`, `provider_unavailable`; the reason of `signal` once it is aborted.
   */
  rank(query: string, texts: readonly string[], signal?: AbortSignal): Promise<number[]>;
}

export interface RerankConfig {
  /** The whole address, as `https://api.jina.ai/v1/rerank`. */
  readonly url: string;
  readonly model?: string | undefined;
  readonly apiKey?: string | undefined;
  readonly timeoutMs?: number;
}

/** A search that waits longer for it goes on without. */
const TIMEOUT_MS = 2_000;

function scoresOf(answer: unknown, count: number): number[] {
  const { results } = (answer ?? {}) as { results?: unknown };
  if (!Array.isArray(results)) throw providerGarbage("no results");
  const scores = Array.from({ length: count }, () => Number.NaN);
  for (const entry of results as unknown[]) {
    const { index, relevance_score: score } = (entry ?? {}) as { index?: unknown; relevance_score?: unknown };
    if (typeof index === "number" && typeof score === "number" && index in scores) scores[index] = score;
  }
  if (scores.some((score) => !Number.isFinite(score))) throw providerGarbage("a score is missing");
  return scores;
}

export function createReranker({ url, model, apiKey, timeoutMs = TIMEOUT_MS }: RerankConfig): Reranker {
  return observedReranker({
    async rank(query, texts, signal) {
      const deadline = AbortSignal.timeout(timeoutMs);
      try {
        const response = await fetch(url, {
          method: "POST",
          headers: { "content-type": "application/json", ...traceHeaders(), ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }) },
          body: JSON.stringify({ ...(model === undefined ? {} : { model }), query, documents: texts, top_n: texts.length, return_documents: false }),
          signal: signal === undefined ? deadline : AbortSignal.any([signal, deadline]),
        });
        if (!response.ok) throw new DomainError("provider_unavailable", `The reranker answered with status ${response.status}.`);
        return scoresOf(await response.json(), texts.length);
      } catch (error) {
        signal?.throwIfAborted();
        if (deadline.aborted) throw providerTimeout(timeoutMs);
        throw error instanceof DomainError ? error : new DomainError("provider_unavailable", "The reranker could not be reached.", { cause: error });
      }
    },
  });
}
