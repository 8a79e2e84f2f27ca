/** Chooses the hits of a search among its ranked candidates, and presents them. */
import type { ShownChunk } from "../db/search/hits.ts";
import { createTimeSlice } from "../process/time-slice.ts";
import type { Scores } from "../domain/fusion.ts";
import { chunkLocations } from "../domain/locations/of-chunk.ts";
import type { Candidate } from "./candidates.ts";
import { chunkName } from "./chunk-set.ts";
import { createTermFinder } from "./highlights.ts";
import { DEFAULT_LIMIT, type LocatedHit, MAX_LIMIT, type SearchHit, type SearchRequest } from "./request.ts";

export type RankedCandidate = Candidate & Scores;

/** The candidates that the request lets through, best first; equal ones by run and index. */
export function choose(candidates: readonly RankedCandidate[], request: SearchRequest): RankedCandidate[] {
  const limit = Math.min(MAX_LIMIT, request.limit ?? DEFAULT_LIMIT);
  const minScore = request.min_score ?? 0;
  const perDocument = request.max_chunks_per_document ?? Infinity;
  const counts = new Map<number, number>();
  const sorted = candidates.toSorted(
    (one, other) =>
      other.score - one.score || one.run_num - other.run_num || one.chunk_index - other.chunk_index,
  );
  const chosen: RankedCandidate[] = [];
  for (const candidate of sorted) {
    const count = counts.get(candidate.run_num) ?? 0;
    if (chosen.length >= limit || candidate.score < minScore) break;
    if (count >= perDocument) continue;
    counts.set(candidate.run_num, count + 1);
    chosen.push(candidate);
  }
  return chosen;
}

/** The chunks as hits, with the offsets of the query's terms in their texts. */
export async function present(
  chunks: readonly ShownChunk[],
  ranked: readonly RankedCandidate[],
  terms: ReadonlySet<string>,
): Promise<SearchHit[]> {
  const scores = new Map(ranked.map((candidate) => [chunkName(candidate), candidate]));
  const findTerms = createTermFinder(terms);
  const endOfSlice = createTimeSlice();
  const hits: SearchHit[] = [];
  for (const chunk of chunks) {
    hits.push(toHit(chunk, scores.get(chunkName(chunk))!, findTerms(chunk.text)));
    await endOfSlice();
  }
  return hits;
}

function toHit(chunk: ShownChunk, scores: Scores, highlights: [number, number][]): SearchHit {
  const { page_start, page_end, start, end } = chunk;
  return {
    chunk_id: chunk.chunk_id,
    document_id: chunk.document_id,
    space_id: chunk.space_id,
    document_name: chunk.document_name,
    file_type: chunk.file_type,
    folder_path: chunk.folder_path,
    chunk_index: chunk.chunk_index,
    score: scores.score,
    dense_score: scores.dense_score,
    sparse_score: scores.sparse_score,
    text: chunk.text,
    metadata: { ...chunk.metadata, page_start, page_end, highlights },
    ...(start === null || end === null ? {} : { start, end }),
    places: chunk.places,
  };
}

/** The hits with their locations, for callers; agents only need those of the words that they quote. */
export async function locate(hits: readonly SearchHit[]): Promise<LocatedHit[]> {
  const endOfSlice = createTimeSlice();
  const located: LocatedHit[] = [];
  for (const { places, ...hit } of hits) {
    const locations = chunkLocations({ places, metadata: hit.metadata });
    located.push({ ...hit, ...(locations === undefined ? {} : { locations }) });
    await endOfSlice();
  }
  return located;
}
