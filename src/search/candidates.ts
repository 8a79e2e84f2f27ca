/** Finds a search's candidates: the best chunks of the dense and the sparse side, with both scores. */
import type { Sql } from "../db/pool.ts";
import { denseCandidates, denseScores } from "../db/search/embeddings.ts";
import type { ChunkKey, SearchScope } from "../db/search/scope.ts";
import type { FusionConstants } from "../domain/fusion.ts";
import { settleAll } from "../process/concurrency/settle-all.ts";
import { searchStage } from "../telemetry/stage.ts";
import { type SparseScores, scoreSparse } from "./bm25.ts";
import { type ChunkConditions, chunkName } from "./chunk-set.ts";
import type { ParsedQuery } from "./query.ts";
import type { FusedVector } from "./query-vectors.ts";
import { DEFAULT_LIMIT, type SearchRequest } from "./request.ts";
import { analyzeQuery } from "./text/analyzer.ts";

/** Candidates that each side finds at least, and at most. */
const MIN_CANDIDATES = 100;
const MAX_CANDIDATES = 400;

export interface CandidateSearch {
  readonly scope: SearchScope;
  readonly conditions: ChunkConditions;
  readonly query: ParsedQuery;
  /** The query's vector in each model that embedded chunks of the scope, as far as it could be embedded. */
  readonly vectors: readonly FusedVector[];
  /** Candidates of each side. */
  readonly limit: number;
}

export interface Candidate extends ChunkKey {
  readonly cosine: number | null;
  readonly bm25: number | null;
  /** Constants of the model that embedded the chunk; null if its cosine is null. */
  readonly fusion: FusionConstants | null;
}

export interface Candidates {
  readonly sparse: SparseScores;
  readonly found: readonly Candidate[];
}

/** Candidates of each side for a request: more than its hits, more yet if a rule may pass over some. */
export function candidatesFor(request: SearchRequest): number {
  const limit = request.limit ?? DEFAULT_LIMIT;
  const perHit = typeof request.max_chunks_per_document === "number" ? 4 : 2;
  return Math.min(MAX_CANDIDATES, Math.max(MIN_CANDIDATES, limit * perHit));
}

/** The candidates of both sides, which work at the same time on two connections. */
export async function findCandidates(
  search: CandidateSearch,
  denseSql: Sql,
  sparseSql: Sql,
): Promise<Candidates> {
  // Both are awaited even if one fails: no connection goes back to the pool while a statement runs on it.
  const [dense, { sparse, best }] = await settleAll([
    searchStage("dense", () => findDense(search, denseSql)),
    findSparse(search, sparseSql),
  ]);
  const byName = new Map<string, Candidate>();
  for (const candidate of dense)
    byName.set(chunkName(candidate), { ...candidate, bm25: sparse.of(candidate) });
  for (const candidate of best) {
    const name = chunkName(candidate);
    if (!byName.has(name)) byName.set(name, candidate);
  }
  return { sparse, found: [...byName.values()] };
}

async function findDense(
  { scope, conditions, vectors, limit }: CandidateSearch,
  sql: Sql,
): Promise<Candidate[]> {
  const narrowing = { required: conditions.required?.keys() ?? null, excluded: conditions.excluded.keys() };
  const found: Candidate[] = [];
  for (const query of vectors) {
    for (const hit of await denseCandidates(sql, scope, narrowing, { query, limit }))
      found.push({ ...hit, bm25: null, fusion: query.fusion });
  }
  return found;
}

async function findSparse(
  { scope, conditions, query, vectors, limit }: CandidateSearch,
  sql: Sql,
): Promise<{ sparse: SparseScores; best: Candidate[] }> {
  const sparse = await searchStage("sparse", () =>
    scoreSparse(sql, scope, analyzeQuery(query.text, scope.languages)),
  );
  const best = sparse
    .best(conditions, limit)
    .map((found): Candidate => ({ ...found, cosine: null, fusion: null }));
  // The dense side still runs, and only its end tells which of these it finds too: all are looked up.
  return { sparse, best: hasMoreVectors(scope, limit) ? await withCosines(sql, scope, vectors, best) : best };
}

/** False if the dense side finds every chunk that it has a vector for. */
function hasMoreVectors({ models }: SearchScope, limit: number): boolean {
  return models.reduce((sum, model) => sum + model.chunks, 0) > limit;
}

async function withCosines(
  sql: Sql,
  scope: SearchScope,
  vectors: readonly FusedVector[],
  candidates: readonly Candidate[],
): Promise<Candidate[]> {
  const byName = new Map(candidates.map((candidate) => [chunkName(candidate), candidate]));
  for (const query of vectors) {
    for (const found of await denseScores(sql, scope, query, candidates)) {
      const name = chunkName(found);
      byName.set(name, { ...byName.get(name)!, cosine: found.cosine, fusion: query.fusion });
    }
  }
  return [...byName.values()];
}
