/** Lets a reranker put the hits of a search in order. */
import { DomainError } from "../domain/errors.ts";
import type { Reranker } from "../models/rerank/reranker.ts";
import { DEFAULT_LIMIT, type RerankWarning, type SearchHit, type SearchRequest } from "./request.ts";

/** Hits that a reranker reads at least. */
const RERANKED = 50;

/** The request to search with: more hits than were asked for, so that a reranker has a choice. */
export function widen(request: SearchRequest): SearchRequest {
  return {
    ...request,
    limit: Math.max(RERANKED, request.limit ?? DEFAULT_LIMIT),
    max_chunks_per_document: null,
  };
}

/** The reranker that the request wants, and the stage that it is; none if there is none or it is left out. */
export function rerankerOf(
  { reranker, modelReranker }: { readonly [kind in "reranker" | "modelReranker"]?: Reranker | undefined },
  { rerank: wanted }: SearchRequest,
): { readonly reranker: Reranker | undefined; readonly stage: "rerank" | "rerank by model" } {
  if (wanted === "model") return { reranker: modelReranker, stage: "rerank by model" };
  return { reranker: wanted === false ? undefined : reranker, stage: "rerank" };
}

/**
 * The best hits by the reranker, with its score as `rerank_score` in their metadata; or why they have none,
 * such as that it did not answer in time. A hit that it refuses keeps its place.
 */
export async function rerank(
  reranker: Reranker,
  request: SearchRequest,
  hits: readonly SearchHit[],
  signal?: AbortSignal,
): Promise<SearchHit[] | RerankWarning> {
  if (hits.length === 0) return [];
  try {
    const scores = await reranker.rank(
      request.query,
      hits.map((hit) => hit.text),
      signal,
    );
    return cut(inOrder(hits, scores), request);
  } catch (error) {
    signal?.throwIfAborted();
    if (!(error instanceof DomainError)) throw error;
    return error.reason === "token_budget_exceeded" ? "rerank_over_budget" : "rerank_unavailable";
  }
}

/** The hits by score, best first. Equal ones stay in order, and those without a score in their places. */
function inOrder(hits: readonly SearchHit[], scores: ReadonlyArray<number | null>): SearchHit[] {
  const scored = hits.flatMap((hit, at) => {
    const score = scores[at] ?? null;
    return score === null
      ? []
      : [{ hit: { ...hit, metadata: { ...hit.metadata, rerank_score: score } }, score }];
  });
  const best = scored.toSorted((one, other) => other.score - one.score).values();
  return hits.map((hit, at) => (typeof scores[at] === "number" ? best.next().value!.hit : hit));
}

/** The first hits that the request lets through. */
export function cut(hits: readonly SearchHit[], request: SearchRequest): SearchHit[] {
  const counts = new Map<string, number>();
  const most = request.max_chunks_per_document ?? Infinity;
  const chosen = hits.filter((hit) => {
    const count = (counts.get(hit.document_id) ?? 0) + 1;
    counts.set(hit.document_id, count);
    return count <= most;
  });
  return chosen.slice(0, request.limit ?? DEFAULT_LIMIT);
}
