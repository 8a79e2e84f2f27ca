/** Takes reports of leaked keys. They are revoked after the answer, which tells nothing about them. */
import { createSecretKey } from "node:crypto";
import { reportLeakedKeys, revokeLeakedKeys } from "../db/keys/leaked.ts";
import type { Database } from "../db/pool.ts";
import { DomainError } from "../domain/errors.ts";
import { shareRounds } from "../process/concurrency/share-rounds.ts";
import type { Log } from "../process/log.ts";
import { hashKey, keysIn } from "./api-keys.ts";

/** How often a process looks for reports that another one took before it died. */
const ROUND_MS = 2_000;
const RETRY_AFTER_SECONDS = 60;

export interface LeakedKeys {
  /**
   * Stores the hash of whatever can be a key in the texts. Known keys are revoked within a second; if this
   * process dies first, another one does it.
   * @throws DomainError `overloaded` if too many reports wait, `database_unavailable`: then nothing is
   * accepted.
   */
  report(texts: readonly string[]): Promise<void>;
  /** Revokes what has been reported, without waiting for the next round. */
  readonly flush: () => Promise<void>;
  readonly close: () => Promise<void>;
}

interface LeakedKeysSettings {
  readonly db: Database;
  /** The instance's secret that key hashes are made with. */
  readonly pepper: Uint8Array;
  readonly log: Pick<Log, "error" | "warn">;
  /** Called with the owner of each key that was revoked. */
  readonly onRevoked: (userId: string) => void;
}

/** Takes reports, and looks every 2 seconds for those of processes that died. */
export function createLeakedKeys(settings: LeakedKeysSettings): LeakedKeys {
  const { db, pepper, log } = settings;
  const pepperKey = createSecretKey(pepper);
  let isFailing = false;

  const flush = shareRounds(async () => {
    try {
      await revokeReported(settings);
      isFailing = false;
    } catch (error) {
      // The next round tries again. Only the first of several failures in a row is logged.
      if (!isFailing) log.error({ err: error }, "reported keys cannot be revoked; trying again");
      isFailing = true;
      throw error;
    }
  });

  function flushInBackground(): void {
    flush().catch(() => undefined);
  }
  const timer = setInterval(flushInBackground, ROUND_MS).unref();

  return {
    async report(texts) {
      const hashes = [...new Set(texts.flatMap(keysIn))].map((text) => hashKey(pepperKey, text));
      if (hashes.length === 0) return;
      if (!(await reportLeakedKeys(db, hashes)))
        throw new DomainError("overloaded", "Too many reports are waiting.", {
          retryAfterSeconds: RETRY_AFTER_SECONDS,
        });
      setImmediate(flushInBackground);
    },
    flush,
    async close() {
      clearInterval(timer);
      // A report that cannot be acted upon now is left to another process, or to the next start of this one.
      await flush().catch(() => undefined);
    },
  };
}

async function revokeReported({ db, log, onRevoked }: LeakedKeysSettings): Promise<void> {
  const revoked = await revokeLeakedKeys(db);
  for (const key of revoked) {
    onRevoked(key.user_id);
    log.warn(
      { api_key_id: key.id, organization_id: key.organization_id },
      "an API key was reported as leaked and has been revoked",
    );
  }
}
