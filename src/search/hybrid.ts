/**
 * Searches a space by meaning and by words, for the HTTP route and for agents alike; the entry of this
 * folder.
 */
import type { Database, OrganizationKey, Sql } from "../db/pool.ts";
import { readHits } from "../db/search/hits.ts";
import { type SearchedModel, type SpaceRef, readSearchScope } from "../db/search/scope.ts";
import { type OnSecondConnection, inTwoTenantReads } from "../db/search/snapshot.ts";
import { fuse } from "../domain/fusion.ts";
import type { Reranker } from "../models/rerank/reranker.ts";
import { searchStage } from "../telemetry/stage.ts";
import { candidatesFor, findCandidates } from "./candidates.ts";
import { readConditions } from "./conditions.ts";
import { type Gate, createGate } from "./gate.ts";
import { choose, present } from "./hits.ts";
import { type QueryEmbedder, type QueryVectors, createQueryVectors } from "./query-vectors.ts";
import { type ParsedQuery, parseQuery } from "./query.ts";
import type { SearchAnswer, SearchHit, SearchRequest } from "./request.ts";
import { cut, rerank, widen } from "./rerank.ts";

export type { SearchHit, SearchRequest } from "./request.ts";

export interface SearchDeps {
  readonly db: Database;
  readonly queryEmbedding: QueryEmbedder;
  /** If absent, hits are in the order of their scores. */
  readonly reranker?: Reranker | undefined;
}

/** Where to search; the caller has decided that the principal may. */
export interface SpaceScope {
  readonly organization: OrganizationKey;
  readonly space: SpaceRef;
}

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
 * The chunks of the space that answer the query best: by score, then by document and index; in the reranker's
 * order if there is one. The scores are exact and of one snapshot. If the query cannot be embedded in time,
 * results are ranked by their words only, and the answer has a `warning`.
 *
 * @throws DomainError `database_unavailable`, `overloaded`; the reason of `signal` after it is aborted.
 * @example `test/search/hybrid.database.test.ts`
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

/** The hits in the order of their scores. */
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
        inTwoTenantReads(deps.db, scope.organization, (sql, onSecond) =>
          searchIn({ deps, space: scope.space, request, query, vectors }, sql, onSecond),
        ),
      signal,
    );
    if (!("missing" in found))
      return found.isWhole ? { results: found.hits } : { results: found.hits, warning: "dense_unavailable" };
    // While documents are embedded with a new model, the scope has vectors of others too. The query is
    // embedded with these outside of the gate, so that no connection waits for a provider.
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

/**
 * Hits, and whether every vector of the scope could be compared; or the models that the query was not yet
 * embedded with.
 */
type Found =
  | { readonly hits: SearchHit[]; readonly isWhole: boolean }
  | { readonly missing: readonly SearchedModel[] };

async function searchIn(search: Search, sql: Sql, onSecond: OnSecondConnection): Promise<Found> {
  const { space, request, query, vectors } = search;
  const current = search.deps.queryEmbedding.model;
  const filter = { documentIds: request.document_ids ?? null, folderIds: request.folder_ids ?? null };
  const scope = await searchStage("scope", () => readSearchScope(sql, { space, filter }));
  const missing = scope.models.filter((model) => !vectors.has(model));
  if (missing.length > 0) return { missing };
  const known = scope.models.map((model) => vectors.of(model)).filter((vector) => vector !== null);
  const isWhole = scope.models.length === 0 ? vectors.isKnown(current) : known.length === scope.models.length;
  const conditions = await readConditions(sql, scope, query);
  if (scope.runs?.length === 0 || conditions.required?.size === 0) return { hits: [], isWhole };
  const candidateSearch = { scope, conditions, query, vectors: known, limit: candidatesFor(request) };
  const { sparse, found } = await onSecond((second) => findCandidates(candidateSearch, sql, second));
  const ranked = found.map((candidate) => ({
    ...candidate,
    ...fuse(candidate, candidate.fusion ?? current.fusion),
  }));
  const best = choose(ranked, request);
  const shown = await searchStage("hits", () => readHits(sql, space, best));
  return { hits: await present(shown, best, new Set(sparse.terms.map(({ term }) => term))), isWhole };
}
