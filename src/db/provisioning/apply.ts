/** Brings the database to what a provisioning file says. */
import { ProvisionError } from "../../domain/tenancy/provision-error.ts";
import type { ProvisionFile, ProvisionOrganization } from "../../domain/tenancy/provision-file.ts";
import { appendAudit, type ToldEvent } from "../audit/append.ts";
import { type Database, inTransaction, type OrganizationRef, type Sql } from "../pool.ts";
import type { KeyMaker } from "./keys.ts";
import { locate, type ProvisionChange, type Run, save } from "./rows.ts";
import type { Scope } from "./scope.ts";
import { provisionSpace } from "./spaces.ts";
import { findUnnamedParts, type Unnamed } from "./unnamed.ts";
import { type MadeKey, provisionKeysOfUsers } from "./user-keys.ts";
import { provisionUser } from "./users.ts";

export interface ProvisionResult {
  readonly created: number;
  readonly updated: number;
  /** Keys that were made now. Their texts are stored nowhere. */
  readonly keys: readonly MadeKey[];
  /**
   * What differs from the file and stays so: keys that were revoked or rolled since, or that share a name.
   * They look like the mistakes of a {@link ProvisionError}.
   */
  readonly warnings: readonly string[];
  /** Everything that the file names, and what became of it. */
  readonly changes: readonly ProvisionChange[];
  /** What the database has and the file does not name. It stays as it is. */
  readonly unnamed: Unnamed;
}

/**
 * Adds and updates what the file names and deletes nothing; for the fields that it names, the file wins over
 * the database. Idempotent; runs in one transaction, so several processes may apply files at once.
 * @throws ProvisionError with every mistake that the database shows. Nothing is changed then.
 */
export async function applyProvisionFile(
  db: Database,
  file: ProvisionFile,
  maker: KeyMaker,
): Promise<ProvisionResult> {
  return inTransaction(db.maintenance, (sql) => provisionWithin(sql, file, maker));
}

/**
 * Applies the file and rolls everything back.
 * @returns what {@link applyProvisionFile} would do; the keys in it do not exist.
 * @throws ProvisionError as {@link applyProvisionFile} does.
 */
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

/** Waits for others that provision. The lock ends with the caller's transaction. */
export async function lockProvisioning(sql: Sql): Promise<void> {
  await sql.query("select pg_advisory_xact_lock(hashtext('holdfast provision'))");
}

/** Like {@link applyProvisionFile}, in a transaction of `maintenance` that the caller may roll back. */
export async function provisionWithin(
  sql: Sql,
  file: ProvisionFile,
  maker: KeyMaker,
): Promise<ProvisionResult> {
  await lockProvisioning(sql);
  const run: Run = {
    sql,
    mistakes: [],
    warnings: [],
    changes: new Map(),
    events: new Map(),
    created: 0,
    updated: 0,
  };
  const keys: MadeKey[] = [];
  const organizations: OrganizationRef[] = [];
  for (const [index, organization] of file.organizations.entries()) {
    const path = `organizations[${index}]`;
    const changesBefore = run.created + run.updated;
    const scope = await provisionOrganization(run, path, organization);
    if (scope === undefined) continue;
    organizations.push(scope.organization);
    const users = organization.users ?? [];
    keys.push(...(await provisionKeysOfUsers(run, maker, scope, { path, users })));
    if (run.created + run.updated > changesBefore)
      await auditProvisioning(sql, scope.organization, [...run.events.values()]);
    run.events.clear();
  }
  if (run.mistakes.length > 0) throw new ProvisionError(run.mistakes);
  const changes = [...run.changes.values()];
  const unnamed = await findUnnamedParts(sql, organizations, changes);
  return { created: run.created, updated: run.updated, keys, warnings: run.warnings, changes, unnamed };
}

async function auditProvisioning(
  sql: Sql,
  organization: OrganizationRef,
  events: readonly ToldEvent[],
): Promise<void> {
  const entry = {
    action: "organization:provision",
    resource_type: "organization",
    resource_id: organization.id,
    space_id: null,
    request_id: null,
    outcome: "success",
    events,
  } as const;
  await appendAudit(sql, { authMethod: "system", organization }, entry);
}

/** @returns undefined if the file is mistaken about the organization itself, which is noted. */
async function provisionOrganization(
  run: Run,
  path: string,
  named: ProvisionOrganization,
): Promise<Scope | undefined> {
  const { id, name, max_key_lifetime_seconds, default_key_lifetime_seconds } = named;
  const located = await locate(run, "organizations", { path, id, name, parentId: null });
  if (located === undefined) return undefined;
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
