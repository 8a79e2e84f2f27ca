/** Makes callers whose request has an Idempotency-Key, for tests of commands that need only a database. */
import { randomUUID } from "node:crypto";
import type { Caller } from "../../../src/commands/caller.ts";
import { claimKey, keepAnswer, type KeyState } from "../../../src/db/instance/idempotency.ts";
import type { OwnedDatabase } from "../servers/database.ts";

const BODY_HASH = Buffer.alloc(32);

/** Returns the caller with a new key, and what a repeat of the request gets for that key. */
export async function underKey(
  db: OwnedDatabase,
  caller: Caller,
): Promise<{ caller: Caller; repeat(): Promise<KeyState> }> {
  const key = {
    organizationId: caller.principal.organization.id,
    callerId: caller.principal.user.id,
    route: "POST /test",
    key: randomUUID(),
  };
  const token = randomUUID();
  await claimKey(db.system, key, token, BODY_HASH);
  return {
    caller: {
      ...caller,
      async keepAnswer(sql, answer) {
        await keepAnswer(sql, key, token, {
          status: 200,
          response: JSON.stringify(answer),
          bodyHash: BODY_HASH,
        });
      },
    },
    repeat: () => claimKey(db.system, key, randomUUID(), BODY_HASH),
  };
}
