/** The only place that lets a reranker put the hits of a search in order. */
import { DomainError } from "../domain/errors.ts";
import type { Reranker } from "../models/rerank.ts";
import type { SearchHit, SearchRequest } from "./hybrid.ts";

/** Hits that a reranker reads, where fewer are asked for. */
const RERANKED = 50;
const DEFAULT_LIMIT = 10;

/** What is searched for, so that a reranker has something to choose from. */
export function widen(request: SearchRequest): SearchRequest {
  return { ...request, limit: Math.max(RERANKED, request.limit ?? DEFAULT_LIMIT), max_chunks_per_document: null };
}

/** The best hits by the reranker, its own score as `rerank_score` in their metadata; null where it could not be asked in time. */
export async function rerank(reranker: Reranker, request: SearchRequest, hits: readonly SearchHit[], signal?: AbortSignal): Promise<SearchHit[] | null> {
  if (hits.length === 0) return [];
  try {
    const scores = await reranker.rank(
      request.query,
      hits.map((hit) => hit.text),
      signal,
    );
    const ranked = hits.map((hit, at) => ({ hit: { ...hit, metadata: { ...hit.metadata, rerank_score: scores[at]! } }, score: scores[at]! }));
    // Equal ones stay in the order of the search.
    return cut(
      ranked.toSorted((one, other) => other.score - one.score).map(({ hit }) => hit),
      request,
    );
  } catch (error) {
    if (error instanceof DomainError) return null;
    throw error;
  }
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
