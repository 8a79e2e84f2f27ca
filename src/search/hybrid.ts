/** The only place that searches a space: for the HTTP route and for agents alike. */
import type { Database, OrganizationKey, Sql } from "../db/pool.ts";
import { denseCandidates, denseScores } from "../db/search/embeddings.ts";
import { type ShownChunk, readHits } from "../db/search/hits.ts";
import {
  type ChunkKey,
  type SearchScope,
  type SearchedModel,
  type SpaceRef,
  readSearchScope,
} from "../db/search/scope.ts";
import { createTimeSlice } from "../db/search/time-slice.ts";
import { type OnSecondConnection, inTwoTenantReads } from "../db/search/snapshot.ts";
import type { FileType } from "../domain/file-type.ts";
import { type FusionConstants, type Scores, fuse } from "../domain/fusion.ts";
import { settleAll } from "../domain/settle-all.ts";
import type { Reranker } from "../models/rerank/reranker.ts";
import { searchStage } from "../telemetry/stage.ts";
import { analyzeQuery } from "./text/analyzer.ts";
import { type SparseScores, scoreSparse } from "./bm25.ts";
import { type ChunkConditions, nameOf, readConditions } from "./conditions.ts";
import { type Gate, createGate } from "./gate.ts";
import { createTermFinder } from "./highlights.ts";
import {
  type FusedVector,
  type QueryEmbedder,
  type QueryVectors,
  createQueryVectors,
} from "./query-vectors.ts";
import { type ParsedQuery, parseQuery } from "./query.ts";
import { cut, rerank, widen } from "./rerank.ts";

export interface SearchDeps {
  readonly db: Database;
  readonly queryEmbedding: QueryEmbedder;
  /** Puts hits in another order than that of their scores. */
  readonly reranker?: Reranker | undefined;
}

/** Decided by the caller from what the principal reaches. */
export interface SpaceScope {
  readonly organization: OrganizationKey;
  readonly space: SpaceRef;
}

export interface SearchRequest {
  readonly query: string;
  /** 1 to 100; 10 where absent. */
  readonly limit?: number | undefined;
  /** Null is no filter, an empty list narrows to nothing; so for folders, which stand for all below them too. */
  readonly document_ids?: readonly string[] | null | undefined;
  readonly folder_ids?: readonly string[] | null | undefined;
  readonly min_score?: number | null | undefined;
  readonly max_chunks_per_document?: number | null | undefined;
}

export interface SearchHit extends Scores {
  readonly chunk_id: string;
  readonly document_id: string;
  readonly document_name: string;
  readonly file_type: FileType;
  readonly folder_path: string | null;
  readonly chunk_index: number;
  readonly text: string;
  /** The chunk's own, with `page_start`, `page_end` and `highlights`: UTF-16 offsets [start, end) of the query's words in `text`. */
  readonly metadata: Record<string, unknown>;
}

export interface SearchAnswer {
  readonly results: SearchHit[];
  /** The query could not be embedded, so that results are by words alone; or they could not be reranked. */
  readonly warning?: "dense_unavailable" | "rerank_unavailable";
}

const DEFAULT_LIMIT = 10;
const MAX_LIMIT = 100;
/** Each side brings at least so many; the other is looked up for all of them. */
const MIN_CANDIDATES = 100;
const MAX_CANDIDATES = 400;
const MAX_WAIT_MS = 10_000;

const gates = new WeakMap<Database["app"], Gate>();

/** Half of the pool's connections: a search takes two. */
function gateOf(db: Database): Gate {
  let gate = gates.get(db.app);
  if (gate === undefined) {
    gate = createGate({ places: Math.max(1, Math.floor(db.app.options.max / 2)), maxWaitMs: MAX_WAIT_MS });
    gates.set(db.app, gate);
  }
  return gate;
}

/**
 * The chunks of the space that answer the query best, as {@link findHits} finds them, and in the order of the reranker where there is one.
 * @throws DomainError `database_unavailable`, `overloaded`; the reason of `signal` once it is aborted.
 */
export async function hybridSearch(
  deps: SearchDeps,
  scope: SpaceScope,
  request: SearchRequest,
  signal?: AbortSignal,
): Promise<SearchAnswer> {
  const { reranker } = deps;
  if (reranker === undefined) return findHits(deps, scope, request, signal);
  const found = await findHits(deps, scope, widen(request), signal);
  const reranked = await searchStage("rerank", () => rerank(reranker, request, found.results, signal));
  return reranked === null
    ? { results: cut(found.results, request), warning: "rerank_unavailable" }
    : { ...found, results: reranked };
}

/**
 * The chunks of the space that answer the query best: score descending, then document and index. Exact, in one snapshot, and
 * never more than `request` lets through. Where the query cannot be embedded in time, the sparse side answers alone.
 */
async function findHits(
  deps: SearchDeps,
  scope: SpaceScope,
  request: SearchRequest,
  signal?: AbortSignal,
): Promise<SearchAnswer> {
  const query = parseQuery(request.query);
  const vectors = createQueryVectors(deps.queryEmbedding, query.text, scope.organization.id);
  await searchStage("embed query", () => vectors.add(deps.queryEmbedding.model, signal));
  for (;;) {
    const found = await gateOf(deps.db)(
      () =>
        inTwoTenantReads(deps.db, scope.organization, (sql, beside) =>
          searchIn({ deps, space: scope.space, request, query, vectors }, sql, beside),
        ),
      signal,
    );
    // Vectors of other models are there only while documents are embedded again: no connection waits for a provider.
    if (!("missing" in found))
      return found.isWhole ? { results: found.hits } : { results: found.hits, warning: "dense_unavailable" };
    for (const model of found.missing) await vectors.add(model, signal);
  }
}

interface Search {
  readonly deps: SearchDeps;
  readonly space: SpaceRef;
  readonly request: SearchRequest;
  readonly query: ParsedQuery;
  readonly vectors: QueryVectors;
}

/** Hits, and whether every vector of the scope could be compared; or the models whose vector of the query is not known yet. */
type Found =
  | { readonly hits: SearchHit[]; readonly isWhole: boolean }
  | { readonly missing: readonly SearchedModel[] };

async function searchIn(search: Search, sql: Sql, beside: OnSecondConnection): Promise<Found> {
  const { space, request, query, vectors } = search;
  const filter = { documentIds: request.document_ids ?? null, folderIds: request.folder_ids ?? null };
  const scope = await searchStage("scope", () => readSearchScope(sql, { space, filter }));
  const missing = scope.models.filter((model) => !vectors.has(model));
  if (missing.length > 0) return { missing };
  const known = scope.models.map((model) => vectors.of(model));
  const isWhole =
    scope.models.length === 0
      ? vectors.isKnown(search.deps.queryEmbedding.model)
      : known.every((vector) => vector !== null);
  const conditions = await readConditions(sql, scope, query);
  if (scope.runs?.length === 0 || conditions.required?.size === 0) return { hits: [], isWhole };
  const sides = {
    scope,
    conditions,
    query,
    vectors: known.filter((vector) => vector !== null),
    limit: candidatesFor(request),
  };
  const { sparse, relevance } = await beside((second) => bothSides(sides, sql, second));
  const { fusion } = search.deps.queryEmbedding.model;
  const best = choose(
    [...relevance.values()].map((found) => ({ ...found, ...fuse(found, found.fusion ?? fusion) })),
    request,
  );
  const shown = await searchStage("hits", () => readHits(sql, space, best));
  return { hits: await present(shown, best, new Set(sparse.terms.map(({ term }) => term))), isWhole };
}

/** More where a rule may pass over some of them. */
function candidatesFor(request: SearchRequest): number {
  const limit = request.limit ?? DEFAULT_LIMIT;
  return Math.min(
    MAX_CANDIDATES,
    Math.max(MIN_CANDIDATES, limit * (typeof request.max_chunks_per_document === "number" ? 4 : 2)),
  );
}

interface Sides {
  readonly scope: SearchScope;
  readonly conditions: ChunkConditions;
  readonly query: ParsedQuery;
  /** One of each model that the scope's vectors are of, as far as there is one. */
  readonly vectors: readonly FusedVector[];
  readonly limit: number;
}

interface Relevant extends ChunkKey {
  cosine: number | null;
  bm25: number | null;
  /** Of the model of its vector; null without one. */
  fusion: FusionConstants | null;
}

/** The candidates of both sides, each with what the other side has for it. */
async function bothSides(
  { scope, conditions, query, vectors, limit }: Sides,
  denseSql: Sql,
  sparseSql: Sql,
): Promise<{ sparse: SparseScores; relevance: Map<string, Relevant> }> {
  const narrowing = { required: conditions.required?.keys() ?? null, excluded: conditions.excluded.keys() };
  const findDense = async (): Promise<Relevant[]> => {
    const found: Relevant[] = [];
    for (const query of vectors)
      for (const hit of await denseCandidates(denseSql, scope, narrowing, { query, limit }))
        found.push({ ...hit, bm25: null, fusion: query.fusion });
    return found;
  };
  const findSparse = async (): Promise<{ sparse: SparseScores; best: Relevant[] }> => {
    const sparse = await searchStage("sparse", () =>
      scoreSparse(sparseSql, scope, analyzeQuery(query.text, scope.languages)),
    );
    const best = sparse
      .best(conditions, limit)
      .map((found): Relevant => ({ ...found, cosine: null, fusion: null }));
    // While the dense side is still looking: which of them it finds by itself is not known before its end.
    if (hasMoreVectors(scope, limit)) await addCosines(sparseSql, scope, vectors, best);
    return { sparse, best };
  };
  // No connection goes back to the pool while a query runs on it.
  const [dense, { sparse, best }] = await settleAll([searchStage("dense", findDense), findSparse()]);
  const relevance = new Map<string, Relevant>();
  for (const found of dense) relevance.set(nameOf(found), { ...found, bm25: sparse.of(found) });
  for (const found of best) {
    const key = nameOf(found);
    if (!relevance.has(key)) relevance.set(key, found);
  }
  return { sparse, relevance };
}

/** Whether the dense side may leave something out: one that is not full has named every chunk that it has something for. */
function hasMoreVectors({ models }: SearchScope, limit: number): boolean {
  return models.reduce((sum, model) => sum + model.chunks, 0) > limit;
}

async function addCosines(
  sql: Sql,
  scope: SearchScope,
  vectors: readonly FusedVector[],
  chunks: readonly Relevant[],
): Promise<void> {
  const byName = new Map(chunks.map((chunk) => [nameOf(chunk), chunk]));
  for (const query of vectors) {
    for (const found of await denseScores(sql, scope, query, chunks))
      Object.assign(byName.get(nameOf(found))!, { cosine: found.cosine, fusion: query.fusion });
  }
}

type Ranked = Relevant & Scores;

function choose(found: readonly Ranked[], request: SearchRequest): Ranked[] {
  const limit = Math.min(MAX_LIMIT, request.limit ?? DEFAULT_LIMIT);
  const atLeast = request.min_score ?? 0;
  const perDocument = request.max_chunks_per_document ?? Infinity;
  const counts = new Map<number, number>();
  const sorted = found.toSorted(
    (one, other) =>
      other.score - one.score || one.run_num - other.run_num || one.chunk_index - other.chunk_index,
  );
  const chosen: Ranked[] = [];
  for (const hit of sorted) {
    const count = counts.get(hit.run_num) ?? 0;
    if (chosen.length >= limit || hit.score < atLeast) break;
    if (count >= perDocument) continue;
    counts.set(hit.run_num, count + 1);
    chosen.push(hit);
  }
  return chosen;
}

async function present(
  shown: readonly ShownChunk[],
  ranked: readonly Ranked[],
  terms: ReadonlySet<string>,
): Promise<SearchHit[]> {
  const scores = new Map(ranked.map((hit) => [nameOf(hit), hit]));
  const findTerms = createTermFinder(terms);
  const endOfSlice = createTimeSlice();
  const hits: SearchHit[] = [];
  for (const chunk of shown) {
    const { score, dense_score, sparse_score } = scores.get(nameOf(chunk))!;
    const {
      chunk_id,
      document_id,
      document_name,
      file_type,
      folder_path,
      chunk_index,
      text,
      page_start,
      page_end,
    } = chunk;
    const highlights = findTerms(text);
    hits.push({
      chunk_id,
      document_id,
      document_name,
      file_type,
      folder_path,
      chunk_index,
      score,
      dense_score,
      sparse_score,
      text,
      metadata: { ...chunk.metadata, page_start, page_end, highlights },
    });
    await endOfSlice();
  }
  return hits;
}
