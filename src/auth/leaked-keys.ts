/** Takes reports of leaked keys: what is accepted is stored, and revoked behind the answer, so that nothing tells whose a reported text is. */
import { createSecretKey } from "node:crypto";
import { reportLeakedKeys, revokeLeakedKeys } from "../db/keys/leaked.ts";
import type { Database } from "../db/pool.ts";
import { DomainError } from "../domain/errors.ts";
import type { Log } from "../process/log.ts";
import { hashKey, keysIn } from "./api-keys.ts";

/** How often a process looks for reports that another one took and did not live to act upon. */
const ROUND_MS = 2_000;
const RETRY_AFTER_SECONDS = 60;

export interface LeakedKeys {
  /**
   * Stores what can be a key in the texts, known or not; those that are known are revoked within a second, those of a process that dies by another one.
   * @throws DomainError `overloaded` if too many reports wait, `database_unavailable`: nothing is accepted then.
   */
  report(texts: readonly string[]): Promise<void>;
  /** Revokes what is reported now. For tests; else it happens by itself. */
  readonly flush: () => Promise<void>;
  readonly close: () => Promise<void>;
}

interface LeakedKeysSettings {
  readonly db: Database;
  /** The secret that key hashes are made with. */
  readonly pepper: Uint8Array;
  readonly log: Pick<Log, "error" | "warn">;
  /** Told the owner of each key that was revoked. */
  readonly onRevoked: (userId: string) => void;
}

export function createLeakedKeys({ db, pepper, log, onRevoked }: LeakedKeysSettings): LeakedKeys {
  const pepperKey = createSecretKey(pepper);
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  let isFailing = false;

  async function revoke(): Promise<void> {
    const revoked = await revokeLeakedKeys(db);
    for (const key of revoked) {
      onRevoked(key.user_id);
      log.warn(
        { api_key_id: key.id, organization_id: key.organization_id },
        "an API key was reported as leaked and is revoked",
      );
    }
  }

  /** A failure is tried again in the next round, and told once. */
  async function round(): Promise<void> {
    try {
      await revoke();
      isFailing = false;
    } catch (error) {
      if (!isFailing) log.error({ err: error }, "reported keys cannot be revoked; trying again");
      isFailing = true;
      throw error;
    }
  }

  /** One round at a time; all who come while one runs share the next. */
  function flush(): Promise<void> {
    if (running === undefined) {
      running = round().finally(() => (running = undefined));
      return running;
    }
    next ??= running
      .catch(() => undefined)
      .then(() => {
        next = undefined;
        return flush();
      });
    return next;
  }

  const inBackground = (): void => void flush().catch(() => undefined);
  const timer = setInterval(inBackground, ROUND_MS).unref();

  return {
    async report(texts) {
      const hashes = [...new Set(texts.flatMap(keysIn))].map((text) => hashKey(pepperKey, text));
      if (hashes.length === 0) return;
      if (!(await reportLeakedKeys(db, hashes)))
        throw new DomainError("overloaded", "Too many reports wait.", {
          retryAfterSeconds: RETRY_AFTER_SECONDS,
        });
      setImmediate(inBackground);
    },
    flush,
    async close() {
      clearInterval(timer);
      // What is stored and not revoked yet is left to another process, or to the next start of this one.
      await flush().catch(() => undefined);
    },
  };
}
