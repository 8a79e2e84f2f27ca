/** GET /data/{document_id}. */
import { authorize } from "../../auth/policy.ts";
import { findDocument } from "../../db/documents.ts";
import { inTenant } from "../../db/pool.ts";
import { Document, } from "../../schema/document.ts";
import { DocumentParams } from "../../schema/common.ts";
import { etagOf } from "../response.ts";
import { defineRoute } from "../route.ts";

export const getDocument = defineRoute({
  method: "GET",
  path: "/data/:document_id",
  access: "keys",
  capability: "read",
  status: 200,
  summary: "One document with its processing state.",
  tags: ["Documents"],
  params: DocumentParams,
  response: Document,
  replyHeaders: { ETag: "Changes with the document; for If-Match" },
  async handle({ deps, principal, params, reply }) {
    const document = await inTenant(deps.db, principal.organization, (sql) => findDocument(sql, principal, params.document_id));
    authorize(principal, "documents:read", document);
    reply.header("ETag", etagOf(document.id, document.updated_at));
    return document;
  },
});
