/** Notes that a vector store is used, which puts off its expiry. */
import { authorize } from "../../auth/policy.ts";
import { type StoreRow, touchStore } from "../../db/stores/stores.ts";
import { inTenant } from "../../db/pool.ts";
import type { Caller, CommandDeps } from "../caller.ts";

/** So that searches write nothing, but for one of them in this time. */
const NOTED_EVERY_MS = 60_000;

/** Searching is no change, so it has no audit row. @throws DomainError `not_found`, `permission_denied` */
export async function noteUse(
  deps: Pick<CommandDeps, "db">,
  { principal }: Caller,
  store: StoreRow,
): Promise<void> {
  authorize(principal, "documents:search", store, "vector_store");
  if (!store.is_listed || Date.now() - store.last_active_at.getTime() < NOTED_EVERY_MS) return;
  await inTenant(deps.db, principal.organization, (sql) => touchStore(sql, store.id));
}
