/**
 * Makes callers of commands and the parts that commands take, and reads their audit rows, for tests that need
 * only a database.
 */
import { vi } from "vitest";
import { createAuthenticator } from "../../../src/auth/authenticate.ts";
import type { Caller } from "../../../src/commands/caller.ts";
import type { CommandDeps } from "../../../src/commands/deps.ts";
import type { OrganizationKey } from "../../../src/db/pool.ts";
import { newId } from "../../../src/domain/ids.ts";
import type { OwnedDatabase } from "../servers/database.ts";
import { makeKey, TEST_PEPPER } from "./callers.ts";

/** The user after a login, with the reach at that moment. Each caller has a request id of its own. */
export async function loggedIn(
  db: OwnedDatabase,
  organization: OrganizationKey,
  userId: string,
): Promise<Caller> {
  const { text } = await makeKey(db, organization, userId);
  const principal = await createAuthenticator({ db, pepper: TEST_PEPPER }).authenticate({
    authorization: `Bearer ${text}`,
    organizationId: undefined,
    address: "192.0.2.7",
  });
  return { principal: { ...principal, authMethod: "jwt", apiKeyId: null }, requestId: newId() };
}

/** The same caller with an API key instead of a login. */
export function withKey({ principal, ...rest }: Caller): Caller {
  return { ...rest, principal: { ...principal, authMethod: "api_key", apiKeyId: newId() } };
}

type Dispatcher = CommandDeps["dispatcher"];
type Authenticator = CommandDeps["authenticator"];

/** The database, and mocks of the functions by which a command informs the rest of its process. */
export function watchedParts(db: OwnedDatabase) {
  return {
    db,
    dispatcher: {
      wake: vi.fn<Dispatcher["wake"]>(),
      wakeBatches: vi.fn<Dispatcher["wakeBatches"]>(),
      wakeDeletions: vi.fn<Dispatcher["wakeDeletions"]>(),
    },
    authenticator: { forgetUser: vi.fn<Authenticator["forgetUser"]>() },
  };
}

export type WatchedParts = ReturnType<typeof watchedParts>;

/** Reads the audit log's rows of one caller's request. */
export async function auditOf(
  db: OwnedDatabase,
  { requestId }: Caller,
): Promise<{ action: string; resource_id: string | null; space_id: string | null }[]> {
  const { rows } = await db.owner.query(
    `select action, resource_id, space_id
     from audit_log
     where request_id = $1
     order by id`,
    [requestId],
  );
  return rows;
}

const REFUSED_REQUEST = "refused when it commits";

/** Makes the database refuse every commit of a transaction with an audit row of {@link refusedAtCommit}. */
export async function refuseSomeCommits(db: OwnedDatabase): Promise<void> {
  await db.owner.query(`
    create function refuse_commit() returns trigger language plpgsql as $$
    begin
      raise exception 'this commit is refused';
    end $$;
    create constraint trigger refuse_commit
      after insert on audit_log
      deferrable initially deferred
      for each row
      when (new.request_id = '${REFUSED_REQUEST}')
      execute function refuse_commit();
  `);
}

/**
 * The caller, with a request whose change fails at commit, after everything was written: see {@link
 * refuseSomeCommits}.
 */
export function refusedAtCommit(caller: Caller): Caller {
  return { ...caller, requestId: REFUSED_REQUEST };
}
