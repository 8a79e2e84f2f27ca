/** Changes the attributes of a file in a vector store. Nothing is processed again. */
import { findStoreFile } from "../../db/stores/files.ts";
import { inTenantContended } from "../../db/retry-deadlocks.ts";
import { notFound } from "../../domain/not-found.ts";
import type { Caller, CommandDeps } from "../caller.ts";
import { recordChange } from "../record-change.ts";
import { writeAttributes } from "./accept-files.ts";
import { type Attributes, type FileInStore, lockStoreFile } from "./file.ts";
import { presentStoreFile } from "./presented.ts";

interface FileUpdate extends FileInStore {
  /** All of them. */
  readonly attributes: Attributes;
}

/** @returns the file as it is answered. @throws DomainError `not_found`, `permission_denied` */
export async function updateFile(
  deps: Pick<CommandDeps, "db">,
  caller: Caller,
  { storeId, fileId, attributes }: FileUpdate,
) {
  const { principal } = caller;
  return inTenantContended(deps.db, principal.organization, async (sql) => {
    const file = await lockStoreFile(sql, principal, "documents:update", { storeId, fileId });
    await writeAttributes(sql, file, attributes);
    await recordChange(sql, caller, "documents:update", {
      type: "document",
      id: file.document_id,
      spaceId: file.space_id,
      events: [{ type: "document.updated" }],
    });
    const changed = await findStoreFile(sql, storeId, fileId);
    if (changed === undefined) throw notFound("file");
    const answer = presentStoreFile(storeId, changed);
    await caller.keepAnswer?.(sql, answer);
    return answer;
  });
}
