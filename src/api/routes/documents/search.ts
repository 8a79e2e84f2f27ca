/** POST /data/search. */
import { authorizeListing } from "../../../auth/policy.ts";
import { searchDocuments } from "../../../db/documents/search.ts";
import { pageOf } from "../../../schema/fields.ts";
import { DocumentPage, DocumentSearch, DocumentSearchQuery } from "../../../schema/documents/document.ts";
import { defineRoute } from "../../route.ts";

export const listDocuments = defineRoute("POST /data/search", {
  operation: "documents.search",
  access: "keys",
  capability: "read",
  audit: { action: "documents:list", resource: "document", isChange: false },
  summary: "List the documents that the caller can access, filtered by their fields.",
  description:
    "Lists documents of spaces that the caller has a role in, newest first unless `order_by` " +
    "says otherwise. All filters must hold; without a body all are listed. It compares fields; " +
    "`POST /v1/data/hybrid-search` looks into the text.",
  query: DocumentSearchQuery,
  body: DocumentSearch,
  response: DocumentPage,
  async handle({ principal, read, query, body }) {
    authorizeListing(principal, "documents:read");
    return pageOf(await read((sql) => searchDocuments(sql, principal.reach, body, query)), query);
  },
});
