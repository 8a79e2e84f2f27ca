/** Finds the documents of a backup that cannot be served, or not as they were. */
import { findOwnersOfObjects } from "../../db/files/object-names.ts";
import { type OrganizationRef, inTenant } from "../../db/pool.ts";
import { listLiveDocuments } from "../../db/upkeep/document-integrity.ts";
import { judge, readDocumentEvidence } from "../../integrity/document.ts";
import { type Backup, noteMissing } from "./backup.ts";

const DOCUMENTS_A_PAGE = 500;
/** Faults of published versions, which the counts of an organization include. */
const FAULTS_OF_VERSIONS = new Set([
  "published_run_missing",
  "chunks_incomplete",
  "embeddings_incomplete",
  "index_incomplete",
  "published_hidden",
  "file_missing",
]);

/** Lists the owners of objects that are missing in the store. */
export async function noteAbsent(
  backup: Backup,
  organization: OrganizationRef,
  names: readonly string[],
): Promise<void> {
  const owners = await inTenant(backup.db, organization, (sql) => findOwnersOfObjects(sql, names));
  for (const { document_id, kind, id } of owners)
    noteMissing(backup, { organization_id: organization.id, document_id, kind, id, fault: "object_missing" });
}

/** Lists documents with a fault. Counts name none: it looks at each until it found as many as counted. */
export async function noteDocuments(
  backup: Backup,
  organization: OrganizationRef,
  counted: number,
): Promise<void> {
  let left = counted;
  for (let after: string | null = null; left > 0;) {
    const page: string[] = await inTenant(backup.db, organization, (sql) =>
      listLiveDocuments(sql, after, DOCUMENTS_A_PAGE),
    );
    for (const id of page) if (left > 0 && (await noteDocument(backup, organization, id))) left -= 1;
    if (page.length < DOCUMENTS_A_PAGE) return;
    after = page.at(-1)!;
  }
}

/** @returns true if the document has a fault. */
async function noteDocument(backup: Backup, organization: OrganizationRef, id: string): Promise<boolean> {
  const evidence = await inTenant(
    backup.db,
    organization,
    (sql) => readDocumentEvidence(sql, id),
    "isolation level repeatable read",
  );
  const found =
    evidence === undefined ? [] : judge(evidence).filter(({ code }) => FAULTS_OF_VERSIONS.has(code));
  for (const { code, pipeline_run_id } of found)
    noteMissing(backup, {
      organization_id: organization.id,
      document_id: id,
      kind: "document",
      id: pipeline_run_id,
      fault: code,
    });
  return found.length > 0;
}
