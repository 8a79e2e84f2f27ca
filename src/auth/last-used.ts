/** The only place that notes when a key was used: written behind, within a second, one row a key and batch. */
import { touchApiKeys } from "../db/api-keys.ts";
import type { Database } from "../db/pool.ts";
import type { Principal } from "../domain/principal.ts";
import type { Log } from "../log.ts";
import { createWriteBehind } from "./write-behind.ts";

const MAX_WAITING = 50_000;

export interface LastUsed {
  /** Notes a request; one with a JWT is no use of a key. */
  note(principal: Principal): void;
  readonly flush: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export function createLastUsed(db: Database, log: Pick<Log, "error">): LastUsed {
  const uses = createWriteBehind<{ id: string; at: Date }>({
    name: "last use of keys",
    maxEntries: MAX_WAITING,
    log,
    write: (entries) => touchApiKeys(db, [...new Map(entries.map((entry) => [entry.id, entry])).values()]),
  });
  return {
    note(principal) {
      if (principal.apiKeyId !== null) uses.add({ id: principal.apiKeyId, at: new Date() });
    },
    flush: uses.flush,
    close: uses.close,
  };
}
