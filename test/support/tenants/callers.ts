/** Makes organizations, users, spaces and keys directly in the database. */
import { PEPPER, createKeyText, hashKey, keyPrefix } from "../../../src/auth/api-keys.ts";
import { insertApiKey } from "../../../src/db/keys/api-keys.ts";
import { type Database, inTransaction, type OrganizationRef } from "../../../src/db/pool.ts";
import type { OwnedDatabase } from "../servers/database.ts";
import { loadInstanceSecret } from "../../../src/db/instance/secrets.ts";
import { newId } from "../../../src/domain/ids.ts";
import type { MasterKey } from "../../../src/domain/tenancy/wrapped-keys.ts";
import { CAPABILITIES, type Capability, type SpaceRole } from "../../../src/domain/tenancy/principal.ts";

/** The pepper for all keys that are made here. */
export const TEST_PEPPER = Buffer.alloc(32, 7);

/** Returns the secret that a running instance hashes its keys with. */
export async function pepperOf(db: Database, master: MasterKey): Promise<Buffer> {
  return loadInstanceSecret(db, PEPPER, master);
}

export async function makeOrganization(db: OwnedDatabase): Promise<OrganizationRef> {
  const id = newId();
  const { rows } = await db.owner.query<{ num: number }>(
    "insert into organizations (id, name) values ($1, $2) returning num",
    [id, `Organization ${id}`],
  );
  return { id, num: rows[0]!.num };
}

export async function makeUser(
  db: OwnedDatabase,
  organization: OrganizationRef,
  fields: { email?: string; role?: string; subject?: string } = {},
): Promise<string> {
  const id = newId();
  await db.owner.query(
    `insert into users (id, organization_id, email, name, role, subject)
     values ($1, $2, $3, 'A User', $4, $5)`,
    [
      id,
      organization.id,
      fields.email ?? `${id}@example.org`,
      fields.role ?? "member",
      fields.subject ?? null,
    ],
  );
  return id;
}

/** Makes a shared space with these members; the first is recorded as its owner. */
export async function makeSpace(
  db: OwnedDatabase,
  organization: OrganizationRef,
  members: readonly (readonly [userId: string, role: SpaceRole])[],
): Promise<string> {
  const id = newId();
  await inTransaction(db.owner, async (sql) => {
    await sql.query("insert into spaces (id, organization_id, name, owner_id) values ($1, $2, $3, $4)", [
      id,
      organization.id,
      `Space ${id}`,
      members[0]![0],
    ]);
    for (const [userId, role] of members) {
      await sql.query(
        "insert into space_members (space_id, user_id, organization_id, role) values ($1, $2, $3, $4)",
        [id, userId, organization.id, role],
      );
    }
  });
  return id;
}

interface KeyFields {
  readonly spaces?: readonly string[] | null;
  readonly capabilities?: readonly Capability[];
  readonly expiresAt?: Date | null;
  readonly createdBy?: string | null;
  readonly allowedCidrs?: readonly string[] | null;
  /** The instance's pepper, if it is not {@link TEST_PEPPER}. */
  readonly pepper?: Buffer;
}

export async function makeKey(
  db: OwnedDatabase,
  organization: OrganizationRef,
  userId: string,
  fields: KeyFields = {},
): Promise<{ id: string; text: string }> {
  const text = createKeyText();
  const id = newId();
  await inTransaction(db.owner, (sql) =>
    insertApiKey(sql, organization, {
      id,
      userId,
      name: `key ${id}`,
      prefix: keyPrefix(text),
      hash: hashKey(fields.pepper ?? TEST_PEPPER, text),
      spaces: fields.spaces ?? null,
      capabilities: fields.capabilities ?? CAPABILITIES,
      expiresAt: fields.expiresAt ?? null,
      createdBy: fields.createdBy ?? null,
      allowedCidrs: fields.allowedCidrs ?? null,
    }),
  );
  return { id, text };
}
