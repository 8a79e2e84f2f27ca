/** Asks a provider how well texts answer a question, by the `/rerank` protocol of Jina and Cohere. */
import { traceHeaders } from "../../telemetry/span.ts";
import { boundedBody } from "../provider/bounded-body.ts";
import { observedReranker } from "../observed.ts";
import { DomainError } from "../../domain/errors.ts";
import { MayBeOfOneText, STATUSES_OF_ONE_TEXT, providerGarbage, providerTimeout } from "../provider/error.ts";
import { rankEach } from "./rank-each.ts";
import type { Reranker } from "./types.ts";

export type { Reranker } from "./types.ts";

export interface RerankConfig {
  /** The whole address, such as `https://api.jina.ai/v1/rerank`. */
  readonly url: string;
  readonly model?: string | undefined;
  readonly apiKey?: string | undefined;
  /** Milliseconds for all requests of one `rank`; 2,000 by default. */
  readonly timeoutMs?: number;
}

/** A search that has waited this long goes on in its own order. */
const TIMEOUT_MS = 2_000;
/** An answer is a few hundred numbers, unless the provider sends the texts back. */
const MAX_ANSWER_BYTES = 1_048_576;

/** Scores by the index that the answer names; null for a text without a score that is a number. */
function scoresOf(answer: unknown, count: number): Array<number | null> {
  const { results } = (answer ?? {}) as { results?: unknown };
  if (!Array.isArray(results)) throw providerGarbage("no results");
  const scores = Array.from({ length: count }, (): number | null => null);
  for (const entry of results as unknown[]) {
    const { index, relevance_score: score } = (entry ?? {}) as { index?: unknown; relevance_score?: unknown };
    if (typeof index === "number" && typeof score === "number" && Number.isFinite(score) && index in scores)
      scores[index] = score;
  }
  return scores;
}

/** Sends one request. @throws MayBeOfOneText if the provider may have refused it for one of its texts. */
async function ask(
  { url, model, apiKey }: RerankConfig,
  query: string,
  texts: readonly string[],
  signal: AbortSignal,
): Promise<Array<number | null>> {
  const response = await fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...traceHeaders(),
      ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
    },
    body: JSON.stringify({
      ...(model === undefined ? {} : { model }),
      query,
      documents: texts,
      top_n: texts.length,
      return_documents: false,
    }),
    signal,
  });
  const message = `The reranker answered with status ${response.status}.`;
  if (STATUSES_OF_ONE_TEXT.has(response.status)) throw new MayBeOfOneText("provider_unavailable", message);
  if (!response.ok) throw new DomainError("provider_unavailable", message);
  const bounded = boundedBody(response, MAX_ANSWER_BYTES, () => providerGarbage("it is too large"));
  return scoresOf(await bounded.json(), texts.length);
}

/**
 * A reranker that is asked over HTTP. Nothing is sent before the first `rank`.
 *
 * @example `test/models/rerank/reranker.test.ts`
 * @see https://docs.cohere.com/reference/rerank
 */
export function createReranker(config: RerankConfig): Reranker {
  const { timeoutMs = TIMEOUT_MS } = config;
  return observedReranker({
    async rank(query, texts, signal) {
      const deadline = AbortSignal.timeout(timeoutMs);
      const either = signal === undefined ? deadline : AbortSignal.any([signal, deadline]);
      try {
        return await rankEach(texts, (some) => ask(config, query, some, either));
      } catch (error) {
        signal?.throwIfAborted();
        if (deadline.aborted) throw providerTimeout(timeoutMs);
        throw error instanceof DomainError
          ? error
          : new DomainError("provider_unavailable", "The reranker could not be reached.", { cause: error });
      }
    },
  });
}
