/** The only place that brings the database to what a provisioning file says. */
import { PRIVATE_SPACE, ProvisionError } from "../../domain/tenancy/provision.ts";
import type {
  ProvisionAgent,
  ProvisionFile,
  ProvisionOrganization,
  ProvisionSpace,
  ProvisionUser,
} from "../../domain/tenancy/provision-file.ts";
import { appendAudit } from "../audit/append.ts";
import { type Database, inTransaction, type OrganizationKey, type Sql } from "../pool.ts";
import { type KeyMaker, provisionKey } from "./keys.ts";
import {
  changeOf,
  type Located,
  locate,
  noteChange,
  type ProvisionChange,
  type Run,
  save,
  updateRow,
} from "./rows.ts";
import { findUnnamedParts, type Unnamed } from "./unnamed.ts";
import { ensurePrivateSpace } from "../tenancy/spaces.ts";

export interface ProvisionResult {
  readonly created: number;
  readonly updated: number;
  /** Keys that were made here; their texts are nowhere else. */
  readonly keys: readonly { readonly email: string; readonly name: string; readonly key: string }[];
  /** What is not as the file alone would have it: keys that were revoked or rolled since, or share a name; they look like a {@link ProvisionError}'s mistakes. */
  readonly warnings: readonly string[];
  /** Everything that the file names, and what became of it. */
  readonly changes: readonly ProvisionChange[];
  /** What is there and the file does not name; it stays as it is. */
  readonly unnamed: Unnamed;
}

/** What the parts of one organization refer to each other by; names in lower case. */
interface Scope {
  readonly organization: OrganizationKey;
  readonly userIds: Map<string, string>;
  readonly spaceIds: Map<string, string>;
}

/**
 * Adds and updates what the file names and deletes nothing; the file wins for the fields it names. Idempotent, one transaction, safe
 * from several processes at once.
 * @throws ProvisionError with every mistake that the database shows; nothing is changed then.
 */
export async function applyProvisionFile(
  db: Database,
  file: ProvisionFile,
  maker: KeyMaker,
): Promise<ProvisionResult> {
  return inTransaction(db.maintenance, (sql) => provisionWithin(sql, file, maker));
}

/** Does all of it and takes all of it back. @returns what it would have done; its keys are nobody's. @throws ProvisionError as {@link applyProvisionFile} does. */
export async function tryProvisionFile(
  db: Database,
  file: ProvisionFile,
  maker: KeyMaker,
): Promise<ProvisionResult> {
  let result: ProvisionResult | undefined;
  const takeBack = new Error("a dry run is taken back");
  await inTransaction(db.maintenance, async (sql) => {
    result = await provisionWithin(sql, file, maker);
    throw takeBack;
  }).catch((error: unknown) => {
    if (error !== takeBack) throw error;
  });
  return result!;
}

/** Takes its turn behind others that provision; the lock ends with the caller's transaction. */
export async function lockProvisioning(sql: Sql): Promise<void> {
  await sql.query("select pg_advisory_xact_lock(hashtext('holdfast provision'))");
}

/** As {@link applyProvisionFile}, in a transaction of maintenance that the caller may roll back. */
export async function provisionWithin(
  sql: Sql,
  file: ProvisionFile,
  maker: KeyMaker,
): Promise<ProvisionResult> {
  await lockProvisioning(sql);
  const run: Run = { sql, mistakes: [], warnings: [], changes: new Map(), created: 0, updated: 0 };
  const keys: { email: string; name: string; key: string }[] = [];
  const organizations: OrganizationKey[] = [];
  for (const [index, organization] of file.organizations.entries()) {
    const changesBefore = run.created + run.updated;
    const scope = await provisionOrganization(run, `organizations[${index}]`, organization);
    if (scope === undefined) continue;
    organizations.push(scope.organization);
    keys.push(
      ...(await provisionKeys(run, maker, scope, {
        path: `organizations[${index}]`,
        users: organization.users ?? [],
      })),
    );
    if (run.created + run.updated > changesBefore) await auditProvisioning(sql, scope.organization);
  }
  if (run.mistakes.length > 0) throw new ProvisionError(run.mistakes);
  const changes = [...run.changes.values()];
  const unnamed = await findUnnamedParts(sql, organizations, changes);
  return { created: run.created, updated: run.updated, keys, warnings: run.warnings, changes, unnamed };
}

async function auditProvisioning(sql: Sql, organization: OrganizationKey): Promise<void> {
  const entry = {
    action: "organization:provision",
    resource_type: "organization",
    resource_id: organization.id,
    space_id: null,
    request_id: null,
    outcome: "success",
  } as const;
  await appendAudit(sql, { authMethod: "system", organization }, entry);
}

async function provisionOrganization(
  run: Run,
  path: string,
  named: ProvisionOrganization,
): Promise<Scope | undefined> {
  const located = await locate(run, "organizations", {
    path,
    id: named.id,
    name: named.name,
    parentId: null,
  });
  if (located === undefined) return undefined;
  const { name, max_key_lifetime_seconds, default_key_lifetime_seconds } = named;
  await save(run, "organizations", located, {
    fields: { name, max_key_lifetime_seconds, default_key_lifetime_seconds },
    defaults: {},
  });
  const { rows } = await run.sql.query<{ num: number }>("select num from organizations where id = $1", [
    located.id,
  ]);
  const scope: Scope = {
    organization: { id: located.id, num: rows[0]!.num },
    userIds: new Map(),
    spaceIds: new Map(),
  };
  for (const [index, user] of (named.users ?? []).entries())
    await provisionUser(run, scope, `${path}.users[${index}]`, user);
  for (const [index, space] of (named.spaces ?? []).entries())
    await provisionSpace(run, scope, `${path}.spaces[${index}]`, space);
  return scope;
}

async function provisionUser(run: Run, scope: Scope, path: string, named: ProvisionUser): Promise<void> {
  const organizationId = scope.organization.id;
  const located = await locate(run, "users", {
    path,
    id: named.id,
    name: named.email,
    parentId: organizationId,
  });
  if (located === undefined) return;
  if (named.subject !== undefined && named.subject !== null) {
    const { rowCount } = await run.sql.query(
      "select from users where subject = $1 and removed_at is null and id <> $2",
      [named.subject, located.id],
    );
    if (rowCount !== 0) {
      run.mistakes.push(`${path}.subject: is bound to another user`);
      return;
    }
  }
  const { email, name, avatar_url, role, subject } = named;
  await save(run, "users", located, {
    fields: { email, name, avatar_url, role, subject, ...(located.isGone ? { removed_at: null } : {}) },
    defaults: { organization_id: organizationId, name: email.split("@")[0], role: "member" },
  });
  scope.userIds.set(named.email, located.id);
  if (!located.isNew) await confirmEmail(run, located, named);
  if (await ensurePrivateSpace(run.sql, scope.organization, located.id))
    noteChange(run, {
      path,
      id: `${located.id} private`,
      what: `private space of ${email}`,
      outcome: "made",
    });
}

/**
 * The operator's word counts as the confirmation of an address: where the file names the user by id, or has the address that was confirmed before.
 * A user who was found by an address that an administrator chose waits for a login that confirms it, as before.
 */
async function confirmEmail(run: Run, located: Located, { id, email }: ProvisionUser): Promise<void> {
  const { rowCount } = await run.sql.query(
    "update users set confirmed_email = null where id = $1 and confirmed_email is not null and ($2 or lower(confirmed_email) = lower($3))",
    [located.id, id !== undefined, email],
  );
  if (rowCount === 1) noteChange(run, { ...changeOf("users", located), outcome: "changed" });
}

async function provisionSpace(run: Run, scope: Scope, path: string, named: ProvisionSpace): Promise<void> {
  const organizationId = scope.organization.id;
  const located = await locate(run, "spaces", {
    path,
    id: named.id,
    name: named.name,
    parentId: organizationId,
  });
  if (located === undefined) return;
  const members = Object.entries(named.members ?? {}).flatMap(([email, role]) => {
    const userId = scope.userIds.get(email);
    return userId === undefined ? [] : [{ userId, email, role }];
  });
  const firstOwner = members.find((member) => member.role === "owner");
  // One who is not there has a mistake of its own, and may have been the owner.
  const noteOwnerless = (): void => {
    if (members.length === Object.keys(named.members ?? {}).length)
      run.mistakes.push(`${path}.members: needs at least one owner`);
  };
  if (located.isNew && firstOwner === undefined) return noteOwnerless();
  await save(run, "spaces", located, {
    fields: { name: named.name },
    defaults: { organization_id: organizationId, owner_id: firstOwner?.userId },
  });
  scope.spaceIds.set(named.name.toLowerCase(), located.id);
  for (const member of members) await provisionMember(run, scope, located, member);
  const ownerId = await settleOwner(run, located.id);
  if (ownerId === undefined) return noteOwnerless();
  for (const [index, agent] of (named.agents ?? []).entries()) {
    const at = await locate(run, "agents", {
      path: `${path}.agents[${index}]`,
      id: agent.id,
      name: agent.name,
      parentId: located.id,
    });
    if (at !== undefined)
      await saveAgent(run, at, agent, {
        organization_id: organizationId,
        space_id: located.id,
        created_by: ownerId,
        last_edited_by: ownerId,
      });
  }
}

async function provisionMember(
  run: Run,
  scope: Scope,
  space: Located,
  { userId, email, role }: { userId: string; email: string; role: string },
): Promise<void> {
  const { rowCount } = await run.sql.query(
    `insert into space_members (space_id, user_id, organization_id, role) values ($1, $2, $3, $4)
     on conflict (space_id, user_id) do update set role = excluded.role where space_members.role <> excluded.role`,
    [space.id, userId, scope.organization.id, role],
  );
  const change = {
    path: `${space.path}.members.${email}`,
    id: `${space.id} ${userId}`,
    what: `${role} ${email} of space ${space.name}`,
  };
  noteChange(run, { ...change, outcome: rowCount === 1 ? "changed" : "unchanged" });
}

/** The owner of record is one of the space's owners. @returns undefined where it has none. */
async function settleOwner(run: Run, spaceId: string): Promise<string | undefined> {
  const { rows } = await run.sql.query<{ id: string }>(
    `select m.user_id as id from space_members m join spaces s on s.id = m.space_id
     where m.space_id = $1 and m.role = 'owner' order by m.user_id <> s.owner_id, m.user_id limit 1`,
    [spaceId],
  );
  const owner = rows[0]?.id;
  if (owner !== undefined) await updateRow(run.sql, "spaces", spaceId, { owner_id: owner });
  return owner;
}

async function saveAgent(
  run: Run,
  located: Located,
  named: ProvisionAgent,
  defaults: Readonly<Record<string, string>>,
): Promise<void> {
  const { id: _id, reasoning_config: reasoning, tool_attachments: tools, ...plain } = named;
  const fields = {
    ...plain,
    reasoning_config: reasoning && JSON.stringify(reasoning),
    tool_attachments: tools && JSON.stringify(tools),
  };
  const isChanged = await save(run, "agents", located, { fields, defaults });
  if (!isChanged || located.isNew || named.version !== undefined) return;
  await run.sql.query(
    `update agents set version = split_part(version, '.', 1) || '.' || split_part(version, '.', 2) || '.' || (split_part(version, '.', 3)::int + 1)
     where id = $1 and version ~ '^\\d+\\.\\d+\\.\\d{1,9}$'`,
    [located.id],
  );
}

async function provisionKeys(
  run: Run,
  maker: KeyMaker,
  scope: Scope,
  named: { readonly path: string; readonly users: readonly ProvisionUser[] },
): Promise<ProvisionResult["keys"]> {
  const made: { email: string; name: string; key: string }[] = [];
  for (const [userIndex, user] of named.users.entries()) {
    const userId = scope.userIds.get(user.email);
    const texts = (user.api_keys ?? []).flatMap((key) => key.key ?? []);
    for (const [index, key] of userId === undefined ? [] : (user.api_keys ?? []).entries()) {
      const path = `${named.path}.users[${userIndex}].api_keys[${index}]`;
      const spaces =
        key.spaces === undefined
          ? undefined
          : key.spaces === "all"
            ? null
            : await spaceIdsOf(run, scope, userId!, key.spaces);
      const text = await provisionKey(run, maker, {
        path,
        organization: scope.organization,
        userId: userId!,
        key,
        spaces,
        texts,
      });
      if (text !== undefined) made.push({ email: user.email, name: key.name, key: text });
    }
  }
  return made;
}

/** A name without an id here is that of a space whose mistake was noted already. */
async function spaceIdsOf(
  run: Run,
  scope: Scope,
  userId: string,
  names: readonly string[],
): Promise<string[]> {
  const shared = names.flatMap((name) => scope.spaceIds.get(name.toLowerCase()) ?? []);
  if (!names.some((name) => name.toLowerCase() === PRIVATE_SPACE)) return shared;
  const { rows } = await run.sql.query<{ id: string }>(
    "select id from spaces where owner_id = $1 and is_private and deleted_at is null",
    [userId],
  );
  return [...shared, ...rows.map((row) => row.id)];
}
