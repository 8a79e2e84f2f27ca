/** The only place that searches a space: for the HTTP route and for agents alike. */
import type { Database, OrganizationKey, Sql } from "../db/pool.ts";
import { type QueryVector, denseCandidates, denseScores } from "../db/search/embeddings.ts";
import { type ShownChunk, readHits } from "../db/search/hits.ts";
import { type ChunkKey, type SearchScope, type SpaceRef, readSearchScope } from "../db/search/scope.ts";
import { type Beside, inTwoTenantReads } from "../db/search/snapshot.ts";
import { DomainError } from "../domain/errors.ts";
import type { FileType } from "../domain/file-type.ts";
import { type Scores, fuse } from "../domain/fusion.ts";
import type { EmbeddingModel } from "../models/embedding-model.ts";
import { analyzeQuery, findTerms } from "./analyzer.ts";
import { type SparseScores, scoreSparse } from "./bm25.ts";
import { type ChunkConditions, nameOf, readConditions } from "./conditions.ts";
import { type Gate, createGate } from "./gate.ts";
import { type ParsedQuery, parseQuery } from "./query.ts";

export interface SearchDeps {
  readonly db: Database;
  readonly queryEmbedding: {
    readonly model: Pick<EmbeddingModel, "name" | "dimensions" | "fusion">;
    embed(text: string, signal?: AbortSignal): Promise<Float32Array>;
  };
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
  /** The query could not be embedded: the results are by words alone. */
  readonly warning?: "dense_unavailable";
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
 * The chunks of the space that answer the query best: score descending, then document and index. Exact, in one snapshot, and
 * never more than `request` lets through. Where the query cannot be embedded in time, the sparse side answers alone.
 * @throws DomainError `database_unavailable`, `overloaded`; the reason of `signal` once it is aborted.
 */
export async function hybridSearch(deps: SearchDeps, scope: SpaceScope, request: SearchRequest, signal?: AbortSignal): Promise<SearchAnswer> {
  const query = parseQuery(request.query);
  const vector = await embedQuery(deps, query.text, signal);
  const results = await gateOf(deps.db)(
    () => inTwoTenantReads(deps.db, scope.organization, (sql, beside) => searchIn({ deps, space: scope.space, request, query, vector }, sql, beside)),
    signal,
  );
  return vector === null ? { results, warning: "dense_unavailable" } : { results };
}

/** Null where the provider is down, too slow or refuses the text. */
async function embedQuery({ queryEmbedding }: SearchDeps, text: string, signal: AbortSignal | undefined): Promise<Float32Array | null> {
  try {
    return await queryEmbedding.embed(text, signal);
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof DomainError) return null;
    throw error;
  }
}

interface Search {
  readonly deps: SearchDeps;
  readonly space: SpaceRef;
  readonly request: SearchRequest;
  readonly query: ParsedQuery;
  readonly vector: Float32Array | null;
}

async function searchIn(search: Search, sql: Sql, beside: Beside): Promise<SearchHit[]> {
  const { space, request, query } = search;
  const { model } = search.deps.queryEmbedding;
  const filter = { documentIds: request.document_ids ?? null, folderIds: request.folder_ids ?? null };
  const scope = await readSearchScope(sql, { space, filter, modelName: model.name });
  const conditions = await readConditions(sql, scope, query);
  if (scope.runs?.length === 0 || conditions.required?.size === 0) return [];
  const vector = queryVector(search, scope);
  const { sparse, relevance } = await beside((second) => bothSides({ scope, conditions, query, vector, limit: candidatesFor(request) }, sql, second));
  const best = choose(
    [...relevance.values()].map((found) => ({ ...found, ...fuse(found, model.fusion) })),
    request,
  );
  return present(await readHits(sql, space, best), best, new Set(sparse.terms.map(({ term }) => term)));
}

function queryVector({ deps, vector }: Search, { modelNum }: SearchScope): QueryVector | null {
  return vector === null || modelNum === null ? null : { vector, modelNum, dimensions: deps.queryEmbedding.model.dimensions };
}

/** More where a rule may pass over some of them. */
function candidatesFor(request: SearchRequest): number {
  const limit = request.limit ?? DEFAULT_LIMIT;
  return Math.min(MAX_CANDIDATES, Math.max(MIN_CANDIDATES, limit * (typeof request.max_chunks_per_document === "number" ? 4 : 2)));
}

interface Sides {
  readonly scope: SearchScope;
  readonly conditions: ChunkConditions;
  readonly query: ParsedQuery;
  readonly vector: QueryVector | null;
  readonly limit: number;
}

interface Found extends ChunkKey {
  cosine: number | null;
  bm25: number | null;
}

/** The candidates of both sides, each with what the other side has for it. */
async function bothSides({ scope, conditions, query, vector, limit }: Sides, denseSql: Sql, sparseSql: Sql): Promise<{ sparse: SparseScores; relevance: Map<string, Found> }> {
  const narrowing = { required: conditions.required?.keys() ?? null, excluded: conditions.excluded.keys() };
  const [dense, sparse] = await settle([
    vector === null ? [] : denseCandidates(denseSql, scope, narrowing, { query: vector, limit }),
    scoreSparse(sparseSql, scope, analyzeQuery(query.text, scope.languages)),
  ]);
  const relevance = new Map<string, Found>();
  for (const found of dense) relevance.set(nameOf(found), { ...found, bm25: sparse.of(found) });
  const missed: Found[] = [];
  for (const { run_num, chunk_index, bm25 } of sparse.best(conditions, limit)) {
    const key = nameOf({ run_num, chunk_index });
    if (relevance.has(key)) continue;
    const found: Found = { run_num, chunk_index, bm25, cosine: null };
    relevance.set(key, found);
    missed.push(found);
  }
  // A side that is not full has named every chunk that it has something for.
  const cosines = vector === null || dense.length < limit ? [] : await denseScores(denseSql, scope, vector, missed);
  for (const found of cosines) relevance.get(nameOf(found))!.cosine = found.cosine;
  return { sparse, relevance };
}

/** Like Promise.all, but a failure is told once both have ended: no connection goes back to the pool while a query runs on it. */
async function settle<A, B>(work: readonly [A | Promise<A>, B | Promise<B>]): Promise<[A, B]> {
  await Promise.allSettled(work);
  return Promise.all(work) as Promise<[A, B]>;
}

type Ranked = Found & Scores;

function choose(found: readonly Ranked[], request: SearchRequest): Ranked[] {
  const limit = Math.min(MAX_LIMIT, request.limit ?? DEFAULT_LIMIT);
  const atLeast = request.min_score ?? 0;
  const perDocument = request.max_chunks_per_document ?? Infinity;
  const counts = new Map<number, number>();
  const sorted = found.toSorted((one, other) => other.score - one.score || one.run_num - other.run_num || one.chunk_index - other.chunk_index);
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

function present(shown: readonly ShownChunk[], ranked: readonly Ranked[], terms: ReadonlySet<string>): SearchHit[] {
  const scores = new Map(ranked.map((hit) => [nameOf(hit), hit]));
  return shown.map((chunk) => {
    const { score, dense_score, sparse_score } = scores.get(nameOf(chunk))!;
    const { chunk_id, document_id, document_name, file_type, folder_path, chunk_index, text, page_start, page_end } = chunk;
    const highlights = findTerms(text, terms);
    return {
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
    };
  });
}
