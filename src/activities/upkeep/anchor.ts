/** Writes the day's anchor of the audit log to the object store. */
import { makeAnchor, storeAnchor } from "../../auth/audit-anchor.ts";
import { loadInstanceSecret } from "../../db/instance/secrets.ts";
import type { Database } from "../../db/pool.ts";
import { ANCHOR_SECRET, dailyAnchorName } from "../../domain/anchor.ts";
import { DomainError } from "../../domain/errors.ts";
import type { MasterKey } from "../../domain/tenancy/wrapped-keys.ts";
import type { ObjectStore } from "../../storage/object-store.ts";

interface AnchorDeps {
  readonly db: Database;
  readonly store: ObjectStore;
  readonly masterKey: MasterKey;
}

/** Signs the heads of all chains once a day (UTC); never overwrites an anchor. @returns 1 if it wrote one. */
export async function anchorToday({ db, store, masterKey }: AnchorDeps, now: Date): Promise<number> {
  const name = dailyAnchorName(now);
  // Listed, because an empty store cannot say whether it has a certain object.
  if ((await store.list(name, { limit: 1 })).length > 0) return 0;
  const { jws } = await makeAnchor(db, await loadInstanceSecret(db, ANCHOR_SECRET, masterKey), now);
  try {
    await storeAnchor(store, name, jws);
    return 1;
  } catch (error) {
    // A round of another worker was faster.
    if (error instanceof DomainError && error.code === "conflict") return 0;
    throw error;
  }
}
