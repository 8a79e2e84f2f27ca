/** POST /data/hybrid-search. */
import { authorizeListing, reachFor } from "../../../auth/policy.ts";
import { HybridSearch, SearchResults } from "../../../schema/documents/search.ts";
import { searchSpaces } from "../../../search/hybrid.ts";
import { locate } from "../../../search/hits.ts";
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
  audit: {
    action: "documents:search",
    resource: "space",
    idField: "space_id",
    idsField: "space_ids",
    isChange: false,
  },
  status: 200,
  summary: "Search the chunks of spaces: dense vectors and BM25 in one ranking.",
  description:
    "Exactly one of `space_id` and `space_ids` says where. A space, document or folder out of reach " +
    "narrows to nothing; it is never an error. `filters` take the fields of documents, as `POST " +
    "/v1/data/search` does. It never waits for a run: documents are found once a version is published. " +
    "`metadata.highlights`, `start` and `end` are offsets in UTF-16 code units; `locations` say where the " +
    "chunk stands in its file.",
  tags: ["Search"],
  body: HybridSearch,
  response: SearchResults,
  errors: [503],
  async handle({ deps, principal, body, request, reply }) {
    authorizeListing(principal, "documents:search");
    const { space_id: spaceId, space_ids: spaceIds, document_id, folder_id, ...search } = body;
    const reach = reachFor(principal, "documents:search");
    const spaces = [...new Set(spaceIds ?? [spaceId!])].flatMap((id) => reach.get(id) ?? []);
    const answer = await searchSpaces(
      deps,
      { organization: principal.organization, spaces },
      {
        ...search,
        document_ids: document_id ? [document_id] : search.document_ids,
        folder_ids: folder_id ? [folder_id] : search.folder_ids,
      },
      request.signal,
    );
    if (answer.warning !== undefined) reply.header("Warning", WARNINGS[answer.warning]);
    return {
      query: search.query,
      space_id: spaceId ?? null,
      ...(spaceIds ? { space_ids: spaceIds } : {}),
      total_results: answer.results.length,
      results: await locate(answer.results),
    };
  },
});
