/** Searches spaces by meaning and by words, for the HTTP route and agents; the entry of this folder. */
import type { Database, OrganizationRef, Sql } from "../db/pool.ts";
import { readHits } from "../db/search/hits.ts";
import { type SearchedModel, type SpaceRef, readSearchScope } from "../db/search/scope.ts";
import { type OnSecondConnection, inTwoTenantReads } from "../db/search/snapshot.ts";
import { type Relevance, fitted, fuse, isUnrelated } from "../domain/fusion.ts";
import { mapAtMost } from "../process/concurrency/settle-all.ts";
import type { Reranker } from "../models/rerank/reranker.ts";
import { searchStage } from "../telemetry/stage.ts";
import { type Candidate, type Candidates, candidatesFor, findCandidates } from "./candidates.ts";
import { readConditions } from "./conditions.ts";
import { type Gate, createGate } from "../process/concurrency/gate.ts";
import { type RankedCandidate, choose, present } from "./hits.ts";
import {
  type FusedVector,
  type QueryEmbedder,
  type QueryVectors,
  createQueryVectors,
} from "./query-vectors.ts";
import { type ParsedQuery, parseQuery } from "./query.ts";
import { withNeighbours } from "./neighbours.ts";
import { DEFAULT_LIMIT, type SearchAnswer, type SearchHit, type SearchRequest } from "./request.ts";
import { cut, rerank, rerankerOf, widen } from "./rerank.ts";

export type { SearchHit, SearchRequest } from "./request.ts";

export interface SearchDeps {
  readonly db: Database;
  readonly queryEmbedding: QueryEmbedder;
  /** If absent, hits are in the order of their scores. */
  readonly reranker?: Reranker | undefined;
  /** The chat model as a reranker, on the account of the caller; asked only by requests that name it. */
  readonly modelReranker?: Reranker | undefined;
}

/** Where to search; the caller has decided that the principal may. */
export interface SpacesScope {
  readonly organization: OrganizationRef;
  readonly spaces: readonly SpaceRef[];
}

const SPACES_AT_ONCE = 4;
/** How long a search waits for two connections. */
const MAX_WAIT_MS = 10_000;

const gates = new WeakMap<Database["app"], Gate>();

/** As many searches at once as half of the pool's connections, since a search takes two. */
function gateOf(db: Database): Gate {
  const known = gates.get(db.app);
  if (known !== undefined) return known;
  const places = Math.max(1, Math.floor(db.app.options.max / 2));
  const gate = createGate({ places, maxWaitMs: MAX_WAIT_MS });
  gates.set(db.app, gate);
  return gate;
}

/**
 * The chunks of the spaces that answer the query best: by score, then by space, document and index; in the
 * reranker's order if there is one and the request does not leave it out, or in the chat model's if the
 * request wants that. A score is the one that the chunk has in its space alone, exact and of one snapshot of
 * it: it does not depend on other candidates, so those of several spaces make one ranking. If the query
 * cannot be embedded in time, results are ranked by their words only, and the answer has a `warning`.
 *
 * @throws DomainError `database_unavailable`, `overloaded`; the reason of `signal` after it is aborted.
 * @example `test/search/hybrid.database.test.ts`
 */
export async function searchSpaces(
  deps: SearchDeps,
  scope: SpacesScope,
  request: SearchRequest,
  signal?: AbortSignal,
): Promise<SearchAnswer> {
  const found = await rankHits(deps, scope, request, signal);
  if (request.context === undefined || request.context === 0) return found;
  return { ...found, results: await withNeighbours(deps.db, scope, found.results, request.context) };
}

/** The hits in the order of the reranker that the request wants, or of their scores. */
async function rankHits(
  deps: SearchDeps,
  scope: SpacesScope,
  request: SearchRequest,
  signal?: AbortSignal,
): Promise<SearchAnswer> {
  const { reranker, stage } = rerankerOf(deps, request);
  if (reranker === undefined) {
    const found = await findHits(deps, scope, request, signal);
    return request.rerank === "model" ? { ...found, warning: "rerank_unavailable" } : found;
  }
  const found = await findHits(deps, scope, widen(request), signal);
  const reranked = await searchStage(stage, () => rerank(reranker, request, found.results, signal));
  return typeof reranked === "string"
    ? { results: cut(found.results, request), warning: reranked }
    : { ...found, results: reranked };
}

/** Begins to embed a query that is searched for later. The search shares the vector, or its error. */
export function embedAhead(
  { queryEmbedding }: Pick<SearchDeps, "queryEmbedding">,
  { id }: OrganizationRef,
  query: string,
  signal?: AbortSignal,
): void {
  queryEmbedding.embed(parseQuery(query).text, id, signal).catch(() => undefined);
}

/** The hits in the order of their scores. */
async function findHits(
  deps: SearchDeps,
  { organization, spaces }: SpacesScope,
  request: SearchRequest,
  signal?: AbortSignal,
): Promise<SearchAnswer> {
  if (spaces.length === 0) return { results: [] };
  const query = parseQuery(request.query);
  const vectors = createQueryVectors(deps.queryEmbedding, query.text, organization.id);
  await searchStage("embed query", () => vectors.add(deps.queryEmbedding.model, signal));
  const found = await mapAtMost(SPACES_AT_ONCE, spaces, (space) =>
    searchSpace({ deps, space, request, query, vectors }, organization, signal),
  );
  const warning = found.every((one) => one.isWhole)
    ? found.some((one) => one.isForeign) && ("language_unknown" as const)
    : ("dense_unavailable" as const);
  const best = found.flatMap((one) => one.hits).toSorted((one, other) => other.score - one.score);
  return {
    results: best.slice(0, request.limit ?? DEFAULT_LIMIT),
    ...(warning && { warning }),
    isUnrelated: found.every((one) => one.isUnrelated),
  };
}

async function searchSpace(
  search: Search,
  organization: OrganizationRef,
  signal: AbortSignal | undefined,
): Promise<FoundHits> {
  const { db } = search.deps;
  for (;;) {
    const found = await gateOf(db)(
      () => inTwoTenantReads(db, organization, (sql, onSecond) => searchIn(search, sql, onSecond)),
      signal,
    );
    if (!("missing" in found)) return found;
    // While documents are embedded with a new model, the scope has vectors of others too. The query is
    // embedded with these outside of the gate, so that no connection waits for a provider.
    for (const model of found.missing) await search.vectors.add(model, signal);
  }
}

interface Search {
  readonly deps: SearchDeps;
  readonly space: SpaceRef;
  readonly request: SearchRequest;
  readonly query: ParsedQuery;
  readonly vectors: QueryVectors;
}

interface FoundHits {
  /** Best first. */
  readonly hits: SearchHit[];
  /** Whether every vector of the space could be compared. */
  readonly isWhole: boolean;
  /** Whether a model hardly knows the language of the query or of the space. */
  readonly isForeign: boolean;
  /** Whether a model says that even the nearest text is about something else. */
  readonly isUnrelated: boolean;
}

/** Hits, or the models that the query was not yet embedded with. */
type Found = FoundHits | { readonly missing: readonly SearchedModel[] };

async function searchIn(search: Search, sql: Sql, onSecond: OnSecondConnection): Promise<Found> {
  const { space, request, query, vectors } = search;
  const current = search.deps.queryEmbedding.model;
  const filter = {
    documentIds: request.document_ids ?? null,
    folderIds: request.folder_ids ?? null,
    conditions: request.filters,
  };
  const scope = await searchStage("scope", () => readSearchScope(sql, { space, filter }));
  const missing = scope.models.filter((model) => !vectors.has(model));
  if (missing.length > 0) return { missing };
  const known = scope.models.map((model) => vectors.of(model)).filter((vector) => vector !== null);
  const isWhole = scope.models.length === 0 ? vectors.isKnown(current) : known.length === scope.models.length;
  const conditions = await readConditions(sql, scope, query);
  // A request that sets the weight of vectors itself is ranked by it.
  const isForeign = request.alpha === undefined && known.some((vector) => vector.isForeign);
  if (scope.runs?.length === 0 || conditions.required?.size === 0)
    return { hits: [], isWhole, isForeign, isUnrelated: false };
  const candidateSearch = { scope, conditions, query, vectors: known, limit: candidatesFor(request) };
  const { sparse, found } = await onSecond((second) => findCandidates(candidateSearch, sql, second));
  const best = choose(scored(search, known, { sparse, found }), request);
  const shown = await searchStage("hits", () => readHits(sql, space, best));
  return {
    hits: await present(shown, best, new Set(sparse.terms.map(({ term }) => term))),
    isWhole,
    isForeign,
    isUnrelated: isWhole && areUnrelated(known, { sparse, found }),
  };
}

function areUnrelated(known: readonly FusedVector[], { sparse, found }: Candidates): boolean {
  const cosine = found.reduce((most, candidate) => Math.max(most, candidate.cosine ?? -1), -1);
  const bm25 = found.reduce((most, candidate) => Math.max(most, candidate.bm25 ?? 0), 0);
  const coverage = bm25 === 0 ? 0 : bm25 / sparse.asked;
  const best = { cosine, coverage, words: sparse.words };
  return known.length > 0 && known.every(({ fusion }) => isUnrelated(best, fusion));
}

function scored(
  { deps, request, query }: Search,
  known: readonly FusedVector[],
  { sparse, found }: Candidates,
): RankedCandidate[] {
  const { fusion, fitOf } = deps.queryEmbedding.model;
  // What has no vector counts as if the current model had embedded it.
  const usual = known[0]?.fusion ?? fitted(fusion, fitOf?.(query.text) ?? 1);
  const asked = request.alpha === undefined ? null : { alpha: request.alpha };
  return found.map((candidate) => ({
    ...candidate,
    ...fuse(relevanceOf(candidate, sparse.most), asked ?? candidate.fusion ?? usual),
  }));
}

/** @param most the BM25 that no chunk reaches for the query */
function relevanceOf({ cosine, bm25 }: Candidate, most: number): Relevance {
  return { cosine, coverage: bm25 === null ? null : bm25 / most };
}
