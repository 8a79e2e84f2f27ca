/** POST /vector_stores/{vector_store_id}/search: hybrid search in a folder. */
import type { z } from "zod";
import { noteUse } from "../../../commands/vector-stores/note-use.ts";
import { attributesOf } from "../../../commands/vector-stores/presented.ts";
import { requireStore } from "../../../commands/vector-stores/store.ts";
import { readFoundFiles } from "../../../db/stores/files.ts";
import { readTenant } from "../../../db/pool.ts";
import { settleAll } from "../../../process/concurrency/settle-all.ts";
import type { Principal } from "../../../domain/tenancy/principal.ts";
import { VectorStoreSearch, VectorStoreSearchPage } from "../../../schema/openai/vector-stores.ts";
import { embedAhead, searchSpaces } from "../../../search/hybrid.ts";
import type { SearchAnswer, SearchHit, SearchRequest } from "../../../search/request.ts";
import type { Deps } from "../../deps.ts";
import { SEARCH_WARNINGS } from "../../routes/documents/hybrid-search.ts";
import { defineRoute } from "../../route.ts";

export const searchVectorStore = defineRoute("POST /vector_stores/:vector_store_id/search", {
  operation: "vector_stores.search",
  form: "openai",
  access: "keys",
  capability: "search",
  audit: { action: "documents:search", resource: "folder", param: "vector_store_id", isChange: false },
  summary: "Search a vector store: hybrid search in its folder and all folders below.",
  description:
    "For everybody with a role in its space. Each result is a chunk. Scores are those of hybrid search; with " +
    "several queries a chunk has the best of its scores.",
  body: VectorStoreSearch,
  response: VectorStoreSearchPage,
  // Each query is a search.
  requestsOf: ({ query }) => (typeof query === "string" ? 1 : query.length),
  ignoresUnknown: true,
  errors: [503],
  async handle({ deps, principal, caller, params, body, request, reply }) {
    const { organization } = principal;
    const queries = typeof body.query === "string" ? [body.query] : body.query;
    // While the store is looked up, so that finding it costs the search no time.
    for (const query of queries) embedAhead(deps, organization, query, request.signal);
    const store = await readTenant(deps.db, organization, (sql) =>
      requireStore(sql, principal, "documents:search", params.vector_store_id),
    );
    const space = principal.reach.get(store.space_id)!;
    const scope = { organization, spaces: [space] };
    const options = optionsOf(body, store.id);
    const [answers] = await settleAll([
      inTurn(queries, (query) => searchSpaces(deps, scope, { ...options, query }, request.signal)),
      noteUse(deps, caller, store),
    ]);
    const warning = answers.find((answer) => answer.warning !== undefined)?.warning;
    if (warning !== undefined) reply.header("Warning", SEARCH_WARNINGS[warning]);
    const hits = merged(answers, body.max_num_results);
    return {
      object: "vector_store.search_results.page" as const,
      search_query: queries,
      data: await presentHits(deps, principal, { spaceId: store.space_id, hits }),
      has_more: false as const,
      next_page: null,
    };
  },
});

function optionsOf(body: z.output<typeof VectorStoreSearch>, folderId: string): Omit<SearchRequest, "query"> {
  const ranking = body.ranking_options ?? undefined;
  const weights = ranking?.hybrid_search ?? undefined;
  return {
    folder_ids: [folderId],
    filters: body.filters === undefined || body.filters === null ? undefined : [body.filters],
    limit: body.max_num_results,
    min_score: ranking?.score_threshold,
    rerank: ranking?.ranker === "none" ? false : undefined,
    alpha: weights && weights.embedding_weight / (weights.embedding_weight + weights.text_weight),
  };
}

/** One after the other: each search takes two connections. */
async function inTurn<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const done: R[] = [];
  for (const item of items) done.push(await work(item));
  return done;
}

/** A chunk that several queries found is there once, with the best of its scores. */
function merged(answers: readonly SearchAnswer[], limit: number): SearchHit[] {
  const [first] = answers;
  if (answers.length === 1 && first !== undefined) return first.results;
  const best = new Map<string, SearchHit>();
  for (const hit of answers.flatMap(({ results }) => results)) {
    const known = best.get(hit.chunk_id);
    if (known === undefined || known.score < hit.score) best.set(hit.chunk_id, hit);
  }
  return [...best.values()].toSorted((one, other) => other.score - one.score).slice(0, limit);
}

async function presentHits(
  { db }: Pick<Deps, "db">,
  { organization }: Principal,
  { spaceId, hits }: { readonly spaceId: string; readonly hits: readonly SearchHit[] },
) {
  if (hits.length === 0) return [];
  const ids = [...new Set(hits.map((hit) => hit.document_id))];
  const files = new Map(
    (await readTenant(db, organization, (sql) => readFoundFiles(sql, spaceId, ids))).map((file) => [
      file.document_id,
      file,
    ]),
  );
  return hits.map((hit) => {
    const file = files.get(hit.document_id);
    return {
      file_id: file?.id ?? hit.document_id,
      filename: hit.document_name,
      score: hit.score,
      attributes: attributesOf(file?.metadata ?? {}),
      content: [{ type: "text" as const, text: hit.text }],
      document_id: hit.document_id,
      chunk_id: hit.chunk_id,
    };
  });
}
