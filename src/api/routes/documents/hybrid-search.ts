/** POST /data/hybrid-search, and the comparison of two such searches. */
import type { z } from "zod";
import { authorizeListing, reachFor } from "../../../auth/policy.ts";
import type { Principal } from "../../../domain/tenancy/principal.ts";
import { SearchComparison, SearchesToCompare } from "../../../schema/documents/comparison.ts";
import { HybridSearch, SearchResults } from "../../../schema/documents/search.ts";
import { compareRankings, overlapOf } from "../../../search/compare.ts";
import { type SearchDeps, searchSpaces } from "../../../search/hybrid.ts";
import { locate } from "../../../search/hits.ts";
import type { SearchWarning } from "../../../search/request.ts";
import type { Deps } from "../../deps.ts";
import { type RouteRequest, defineRoute } from "../../route.ts";

export const SEARCH_WARNINGS = {
  dense_unavailable: '199 holdfast "The model provider is away: results are by words alone"',
  rerank_unavailable: '199 holdfast "The reranker is away: results are in the order of their scores"',
  rerank_over_budget:
    '199 holdfast "The month\'s budget of tokens is used up: results are in the order of their scores"',
  language_unknown:
    '199 holdfast "The embedding model hardly knows this language: results are mostly by words"',
} as const satisfies Record<SearchWarning, string>;

interface Asked {
  readonly deps: Pick<Deps, "db" | "queryEmbedding" | "reranker" | "chat">;
  readonly principal: Principal;
  readonly request: Pick<RouteRequest, "signal" | "countTurn">;
}

/** A request that reranks by the model counts as a chat turn too. @throws DomainError `rate_limited`. */
async function searchDeps(
  { deps, principal, request }: Asked,
  rerank: z.output<typeof HybridSearch>["rerank"],
): Promise<SearchDeps> {
  const { db, queryEmbedding, reranker } = deps;
  const modelReranker = rerank === "model" ? deps.chat.rerankerFor(principal) : undefined;
  if (modelReranker !== undefined) await request.countTurn();
  return { db, queryEmbedding, reranker, modelReranker };
}

/** Searches where the caller may, and says as a warning what was left out of the ranking. */
async function answerSearch(asked: Asked, body: z.output<typeof HybridSearch>) {
  const { principal, request } = asked;
  const { space_id: spaceId, space_ids: spaceIds, document_id, folder_id, ...search } = body;
  const reach = reachFor(principal, "documents:search");
  const spaces = [...new Set(spaceIds ?? [spaceId!])].flatMap((id) => reach.get(id) ?? []);
  const found = await searchSpaces(
    await searchDeps(asked, search.rerank),
    { organization: principal.organization, spaces },
    {
      ...search,
      document_ids: document_id ? [document_id] : search.document_ids,
      folder_ids: folder_id ? [folder_id] : search.folder_ids,
    },
    request.signal,
  );
  const answer = {
    query: search.query,
    space_id: spaceId ?? null,
    ...(spaceIds ? { space_ids: spaceIds } : {}),
    total_results: found.results.length,
    results: await locate(found.results),
  };
  return { answer, warning: found.warning === undefined ? undefined : SEARCH_WARNINGS[found.warning] };
}

export const searchDocuments = defineRoute("POST /data/hybrid-search", {
  operation: "search.hybrid",
  access: "keys",
  capability: "search",
  audit: {
    action: "documents:search",
    resource: "space",
    idField: "space_id",
    idsField: "space_ids",
    isChange: false,
  },
  summary: "Search the chunks of spaces: dense vectors and BM25 in one ranking.",
  description:
    "Exactly one of `space_id` and `space_ids` says where. A space, document or folder out of reach " +
    "narrows to nothing; it is never an error. `filters` take the fields of documents, as `POST " +
    "/v1/data/search` does. It never waits for a run: documents are found once a version is published. " +
    "`metadata.highlights`, `start` and `end` are offsets in UTF-16 code units; `locations` say where the " +
    "chunk stands in its file.",
  body: HybridSearch,
  response: SearchResults,
  errors: [503],
  async handle({ deps, principal, body, request, reply }) {
    authorizeListing(principal, "documents:search");
    const { answer, warning } = await answerSearch({ deps, principal, request }, body);
    if (warning !== undefined) reply.header("Warning", warning);
    return answer;
  },
});

type Sides = z.output<typeof SearchesToCompare>;

/** The spaces that either side names, for the audit log. */
const spacesOf = ({ left, right }: Sides): string[] =>
  [left, right].flatMap((side) => side.space_ids ?? side.space_id ?? []);

export const compareSearches = defineRoute("POST /data/hybrid-search/compare", {
  operation: "search.compare",
  access: "keys",
  capability: "search",
  weight: 2,
  audit: {
    action: "documents:search",
    resource: "space",
    idsOf: (body) => spacesOf(body as Sides),
    isChange: false,
  },
  summary: "Search twice with different settings, and say what changed between the results.",
  description:
    "Each side is a request of `POST /v1/data/hybrid-search` and is answered as there. `changes` " +
    "names each chunk that either side found, with its ranks. The sides are searched one after the " +
    "other; together they count as two requests.",
  body: SearchesToCompare,
  response: SearchComparison,
  errors: [503],
  async handle({ deps, principal, body, request, reply }) {
    authorizeListing(principal, "documents:search");
    const asked = { deps, principal, request };
    // One after the other, so that neither time contains a wait for the other side.
    const left = await timed(() => answerSearch(asked, body.left));
    const right = await timed(() => answerSearch(asked, body.right));
    const warnings = new Set([left.warning, right.warning].filter((one) => one !== undefined));
    if (warnings.size > 0) reply.header("Warning", [...warnings].join(", "));
    const changes = compareRankings(left.answer.results, right.answer.results);
    return {
      left: left.answer,
      right: right.answer,
      changes,
      overlap: overlapOf(changes),
      left_ms: left.ms,
      right_ms: right.ms,
    };
  },
});

async function timed<T extends object>(work: () => Promise<T>): Promise<T & { ms: number }> {
  const start = performance.now();
  const done = await work();
  return { ...done, ms: Math.round(performance.now() - start) };
}
