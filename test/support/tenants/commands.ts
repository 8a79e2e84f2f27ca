/**
 * Makes callers of commands and the parts that commands take, and reads their audit rows, for tests that need
 * only a database.
 */
import { afterAll, beforeAll, vi } from "vitest";
import type { Caller, CommandDeps } from "../../../src/commands/caller.ts";
import type { StoredFile } from "../../../src/commands/documents/stored-file.ts";
import type { OrganizationRef } from "../../../src/db/pool.ts";
import { newId } from "../../../src/domain/ids.ts";
import type { SpaceRole } from "../../../src/domain/tenancy/principal.ts";
import { laterOf } from "../run/later.ts";
import { createTestDatabase, type OwnedDatabase, type TestDatabase } from "../servers/database.ts";
import { makeKey, makeOrganization, makeSpace, makeUser } from "./callers.ts";
import { authenticateKey } from "./key-people.ts";

/**
 * Gives a test file a database that can refuse commits: see {@link refusedAtCommit}. Call it once, at the top
 * of the file.
 */
export function commandDatabase(): TestDatabase {
  const later = laterOf<TestDatabase>("The database");
  let made: TestDatabase | undefined;
  beforeAll(async () => {
    made = await createTestDatabase();
    await refuseSomeCommits(made.db);
    later.set(made);
  });
  afterAll(() => made?.drop());
  return later.value;
}

interface SharedSpace {
  readonly organization: OrganizationRef;
  readonly spaceId: string;
  readonly editorId: string;
  readonly viewerId: string;
}

/** Makes an organization with a space of two members: one with a role that may write, and a viewer. */
export async function makeSharedSpace(
  db: OwnedDatabase,
  editorRole: Exclude<SpaceRole, "viewer">,
): Promise<SharedSpace> {
  const organization = await makeOrganization(db);
  const editorId = await makeUser(db, organization);
  const viewerId = await makeUser(db, organization);
  const spaceId = await makeSpace(db, organization, [
    [editorId, editorRole],
    [viewerId, "viewer"],
  ]);
  return { organization, spaceId, editorId, viewerId };
}

/** The user after a login, with the reach at that moment. Each caller has a request id of its own. */
export async function loggedIn(
  db: OwnedDatabase,
  organization: OrganizationRef,
  userId: string,
): Promise<Caller> {
  const { text } = await makeKey(db, organization, userId);
  const principal = await authenticateKey(db, text);
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
      wakeWebhooks: vi.fn<Dispatcher["wakeWebhooks"]>(),
    },
    authenticator: { forgetUser: vi.fn<Authenticator["forgetUser"]>() },
  };
}

export type WatchedParts = ReturnType<typeof watchedParts>;

/** The parts that commands of documents and batches take. The organization has no quotas. */
export function documentParts(db: OwnedDatabase) {
  return {
    ...watchedParts(db),
    config: { limits: UNLIMITED },
    embedding: { name: "model", maxTokens: 256 },
  };
}

export type DocumentParts = ReturnType<typeof documentParts>;

/** Limits without quotas of the organization. */
export const UNLIMITED = {
  documentsPerOrganization: undefined,
  bytesPerOrganization: undefined,
  keysPerUser: 10,
};

/** A Markdown file, as if its bytes were in the object store. */
export function storedMarkdown(organization: OrganizationRef): StoredFile {
  return {
    objectKey: `${organization.id}/${newId()}`,
    fileType: "MARKDOWN",
    mediaType: "text/markdown",
    size: 5,
    sha256: "00",
  };
}

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
async function refuseSomeCommits(db: OwnedDatabase): Promise<void> {
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

/** The caller, with a request that fails when it commits in a {@link commandDatabase}, after every write. */
export function refusedAtCommit(caller: Caller): Caller {
  return { ...caller, requestId: REFUSED_REQUEST };
}
