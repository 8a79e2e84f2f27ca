/** Puts many files into a vector store at once: all of them or none. */
import { findBatch, insertBatch } from "../../db/stores/files.ts";
import { inTenantContended } from "../../db/retry-deadlocks.ts";
import { newId } from "../../domain/ids.ts";
import { notFound } from "../../domain/not-found.ts";
import type { Caller } from "../caller.ts";
import { type AcceptDeps, acceptFiles } from "./accept-files.ts";
import type { WantedFile } from "./file.ts";
import { presentBatch } from "./presented.ts";
import { requireStore } from "./store.ts";

interface NewBatch {
  readonly storeId: string;
  readonly files: readonly WantedFile[];
}

/** @returns the batch as it is answered. @throws DomainError as `acceptFiles` does */
export async function createFileBatch(deps: AcceptDeps, caller: Caller, { storeId, files }: NewBatch) {
  const { principal } = caller;
  const { organization } = principal;
  const id = newId();
  const made = await inTenantContended(deps.db, organization, async (sql) => {
    const store = await requireStore(sql, principal, "documents:create", storeId);
    const documentIds = await acceptFiles(sql, { deps, caller, store }, files);
    await insertBatch(sql, { id, organizationId: organization.id, folderId: storeId, documentIds });
    const batch = await findBatch(sql, storeId, id);
    if (batch === undefined) throw notFound("batch");
    const answer = presentBatch(batch);
    await caller.keepAnswer?.(sql, answer);
    return answer;
  });
  deps.dispatcher.wake({ id: organization.id, num: organization.num });
  return made;
}
