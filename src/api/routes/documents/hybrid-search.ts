/** POST /data/hybrid-search. */
import { authorizeListing, reachFor } from "../../../auth/policy.ts";
import { HybridSearch, SearchResults } from "../../../schema/documents/search.ts";
import { hybridSearch } from "../../../search/hybrid.ts";
import { defineRoute } from "../../route.ts";

const WARNINGS = {
  dense_unavailable: '199 holdfast "The model provider is away: results are by words alone"',
  rerank_unavailable: '199 holdfast "The reranker is away: results are in the order of their scores"',
};

export const searchDocuments = defineRoute({
  method: "POST",
  path: "/data/hybrid-search",
  operation: "search.hybrid",
  access: "keys",
  capability: "search",
  audit: { action: "documents:search", resource: "space", idField: "space_id", isChange: false },
  status: 200,
  summary: "Search the chunks of a space: dense vectors and BM25 in one ranking.",
  description: "A space, document or folder out of reach narrows to nothing; it is never an error.",
  tags: ["Search"],
  body: HybridSearch,
  response: SearchResults,
  replyHeaders: {
    Warning: "Says where the model provider was away and results are by words alone, or the reranker was",
  },
  errors: [503],
  async handle({ deps, principal, body, request, reply }) {
    authorizeListing(principal, "documents:search");
    const { query, space_id: spaceId, ...narrowing } = body;
    const space = reachFor(principal, "documents:search").get(spaceId);
    if (space === undefined) return { query, space_id: spaceId, total_results: 0, results: [] };
    const answer = await hybridSearch(
      deps,
      { organization: principal.organization, space },
      { query, ...narrowing },
      request.signal,
    );
    if (answer.warning !== undefined) reply.header("Warning", WARNINGS[answer.warning]);
    return { query, space_id: spaceId, total_results: answer.results.length, results: answer.results };
  },
});
