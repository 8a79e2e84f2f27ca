/** Finds a file as OpenAI's clients name it: one that was sent to `/v1/files`, or a document. */
import { authorize } from "../../auth/policy.ts";
import { type Database, readTenant } from "../../db/pool.ts";
import { findDocumentOfFile, type FileDocument } from "../../db/stores/files.ts";
import { findUserFile, type UserFileRow } from "../../db/stores/user-files.ts";
import { type Principal, reachedSpaceIds } from "../../domain/tenancy/principal.ts";

type FoundFile = { readonly file: UserFileRow } | { readonly document: FileDocument };

/** The caller's file, or the document under the id. @throws DomainError `not_found`, `permission_denied` */
export async function findFile(db: Database, principal: Principal, id: string): Promise<FoundFile> {
  authorize(principal, "user_files:read", { organization_id: principal.organization.id });
  return readTenant(db, principal.organization, async (sql): Promise<FoundFile> => {
    const file = await findUserFile(sql, principal, id);
    if (file !== undefined) return { file };
    const document = await findDocumentOfFile(sql, reachedSpaceIds(principal.reach), id);
    authorize(principal, "documents:read", document, "file");
    return { document };
  });
}
