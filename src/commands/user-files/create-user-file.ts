/** Accepts a stored file as the user's own, outside of every space. */
import { insertUserFile, type UserFileRow } from "../../db/stores/user-files.ts";
import { inTenant } from "../../db/pool.ts";
import { requireWithinQuotas } from "../../db/tenancy/storage-quotas.ts";
import { newId } from "../../domain/ids.ts";
import type { Caller, CommandDeps } from "../caller.ts";
import type { StoredFile } from "../documents/stored-file.ts";
import { recordChange } from "../record-change.ts";
import { authorizeUserFiles, presentUserFile } from "./user-file.ts";

interface NewUserFile {
  readonly filename: string;
  readonly purpose: string;
  /** Null: it does not expire. */
  readonly expiresAfterSeconds: number | null;
  readonly stored: StoredFile;
}

/** If it throws, the caller discards the file. @throws DomainError `permission_denied`, `bad_request` */
export async function createUserFile(
  deps: Pick<CommandDeps, "db" | "config">,
  caller: Caller,
  { filename, purpose, expiresAfterSeconds, stored }: NewUserFile,
): Promise<UserFileRow> {
  const { organization, user, apiKeyId } = caller.principal;
  authorizeUserFiles(caller.principal, "user_files:create");
  return inTenant(deps.db, organization, async (sql) => {
    const file = await insertUserFile(sql, {
      id: newId(),
      organizationId: organization.id,
      user_id: user.id,
      apiKeyId,
      name: filename,
      purpose,
      size: stored.size,
      content_type: stored.mediaType,
      file_type: stored.fileType,
      sha256: stored.sha256,
      object_key: stored.objectKey,
      expiresAfterSeconds,
    });
    await requireWithinQuotas(sql, organization.id, deps.config.limits);
    await recordChange(sql, caller, "user_files:create", { type: "user_file", id: file.id, events: [] });
    await caller.keepAnswer?.(sql, presentUserFile(file));
    return file;
  });
}
