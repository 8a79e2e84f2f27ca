/** GET /data/{document_id}/integrity. */
import { authorize } from "../../../auth/policy.ts";
import { findDocument } from "../../../db/documents/read.ts";
import { readTenant } from "../../../db/pool.ts";
import { DomainError } from "../../../domain/errors.ts";
import { notFound } from "../../../domain/not-found.ts";
import { type Finding, judge, readDocumentEvidence } from "../../../integrity/document.ts";
import { DocumentIntegrity } from "../../../schema/documents/integrity.ts";
import type { Storage } from "../../../storage/storage.ts";
import { defineRoute } from "../../route.ts";

export const checkDocument = defineRoute("GET /data/:document_id/integrity", {
  operation: "documents.integrity",
  access: "keys",
  capability: "read",
  audit: { action: "documents:read", resource: "document" },
  summary: "Check the integrity of a document: its file, chunks, vectors, index, and leftovers of its runs.",
  description:
    "For everybody with a role in its space. Reads and counts everything that belongs to the " +
    "document. Nothing found is what every document should answer; what is found is put right by " +
    "maintenance where it can be.",
  response: DocumentIntegrity,
  errors: [503],
  async handle({ deps, principal, params }) {
    const checkedAt = new Date();
    const read = await readTenant(
      deps.db,
      principal.organization,
      async (sql) => {
        const document = await findDocument(sql, principal, params.document_id);
        authorize(principal, "documents:read", document);
        return readDocumentEvidence(sql, document.id);
      },
      "isolation level repeatable read",
    );
    if (read === undefined) throw notFound("document");
    const findings = [...judge(read), ...(await missingObjects(deps.storage, read.object_keys))];
    return { document_id: params.document_id, ok: findings.length === 0, checked_at: checkedAt, findings };
  },
});

async function missingObjects(storage: Storage, objectKeys: readonly string[]): Promise<Finding[]> {
  const missing = await Promise.all(
    objectKeys.map(async (name) => {
      try {
        await storage.size(name);
        return false;
      } catch (error) {
        if (error instanceof DomainError && error.code === "not_found") return true;
        throw error;
      }
    }),
  );
  const count = missing.filter(Boolean).length;
  return count === 0
    ? []
    : [
        {
          code: "object_missing",
          message: `${count} of the document's ${objectKeys.length} stored files are missing.`,
          pipeline_run_id: null,
        },
      ];
}
