/** Puts a file into a vector store. */
import { findStoreFile } from "../../db/stores/files.ts";
import { inTenantContended } from "../../db/retry-deadlocks.ts";
import { notFound } from "../../domain/not-found.ts";
import type { Caller } from "../caller.ts";
import { type AcceptDeps, acceptFiles } from "./accept-files.ts";
import type { WantedFile } from "./file.ts";
import { presentStoreFile } from "./presented.ts";
import { requireStore } from "./store.ts";

/** @returns the file as it is answered. @throws DomainError as `acceptFiles` does */
export async function addFile(
  deps: AcceptDeps,
  caller: Caller,
  { storeId, file }: { readonly storeId: string; readonly file: WantedFile },
) {
  const { principal } = caller;
  const { organization } = principal;
  const added = await inTenantContended(deps.db, organization, async (sql) => {
    const store = await requireStore(sql, principal, "documents:create", storeId);
    await acceptFiles(sql, { deps, caller, store }, [file]);
    const row = await findStoreFile(sql, storeId, file.fileId);
    if (row === undefined) throw notFound("vector_store");
    const answer = presentStoreFile(storeId, row);
    await caller.keepAnswer?.(sql, answer);
    return answer;
  });
  deps.dispatcher.wake({ id: organization.id, num: organization.num });
  return added;
}
