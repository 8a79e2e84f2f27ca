/** Notes a key's last use: when, from which address, by which client. Written in batches each second. */
import { type KeyUse, touchApiKeys } from "../db/keys/callers.ts";
import type { Database } from "../db/pool.ts";
import { canonicalAddress } from "../domain/tenancy/cidr.ts";
import type { Principal } from "../domain/tenancy/principal.ts";
import type { Log } from "../process/log.ts";
import { createWriteBehind } from "./write-behind.ts";

/** Uses; more than wait are dropped, and counted in the log. */
const MAX_WAITING = 50_000;
/** In characters. */
const MAX_USER_AGENT = 256;

interface Request {
  /** The client's address, as the trusted proxies report it. */
  readonly address: string;
  readonly userAgent: string | undefined;
}

export interface LastUsed {
  /** Notes a request, unless it came with a JWT. */
  note(principal: Principal, request: Request): void;
  readonly flush: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export function createLastUsed(db: Database, log: Pick<Log, "error">): LastUsed {
  const uses = createWriteBehind<KeyUse>({
    name: "last use of keys",
    maxEntries: MAX_WAITING,
    log,
    write: (entries) => touchApiKeys(db, [...new Map(entries.map((entry) => [entry.id, entry])).values()]),
  });
  return {
    note(principal, { address, userAgent }) {
      if (principal.apiKeyId === null) return;
      uses.add({
        id: principal.apiKeyId,
        at: new Date(),
        ip: canonicalAddress(address),
        userAgent: userAgent === undefined ? null : plain(userAgent),
      });
    },
    flush: uses.flush,
    close: uses.close,
  };
}

/** Removes control characters and bounds the length, because terminals show it in tables. */
function plain(userAgent: string): string {
  return userAgent
    .slice(0, MAX_USER_AGENT * 4)
    .replaceAll(/\p{Cc}/gu, "")
    .slice(0, MAX_USER_AGENT);
}
