/** POST /data/status. */
import { authorizeListing } from "../../../auth/policy.ts";
import { findDocumentStatuses } from "../../../db/documents/read.ts";
import { DocumentStatuses, DocumentStatusQuestion } from "../../../schema/documents/document.ts";
import { defineRoute } from "../../route.ts";

export const documentStatuses = defineRoute("POST /data/status", {
  operation: "documents.status",
  access: "keys",
  capability: "read",
  audit: { action: "documents:list", resource: "document", isChange: false },
  summary: "Where up to a thousand documents are in the pipeline.",
  description:
    "It counts as one request, however many documents it names. Those that do not exist and those that " +
    "the caller does not reach are not told apart: `not_found`.",
  body: DocumentStatusQuestion,
  response: DocumentStatuses,
  async handle({ principal, read, body }) {
    authorizeListing(principal, "documents:read");
    const items = await read((sql) => findDocumentStatuses(sql, principal, body.ids));
    const found = new Set(items.map(({ id }) => id));
    return { items, not_found: [...new Set(body.ids)].filter((id) => !found.has(id)) };
  },
});
