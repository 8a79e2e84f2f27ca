/** What keys reach that somebody else made for their owner, in this version and in the one before it. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createKeyText, hashKey } from "../../../src/auth/api-keys.ts";
import { writeKey } from "../../../src/commands/keys/write-key.ts";
import { appendAudit } from "../../../src/db/audit/append.ts";
import { inTenant, type OrganizationRef } from "../../../src/db/pool.ts";
import { newId } from "../../../src/domain/ids.ts";
import { createTestDatabase, type OwnedDatabase, type TestDatabase } from "../../support/servers/database.ts";
import { makeKey, TEST_PEPPER } from "../../support/tenants/callers.ts";
import { makeKeyPeople, reachOfKey, seenByVersionBefore } from "../../support/tenants/key-people.ts";

let test: TestDatabase;
let db: OwnedDatabase;
let organization: OrganizationRef;
let owner: string;
let admin: string;
let shared: string;
let own: string;

beforeAll(async () => {
  test = await createTestDatabase();
  db = test.db;
  ({ organization, owner, admin, shared, own } = await makeKeyPeople(db));
});
afterAll(() => test.drop());

/** Makes a key by the statements of the version before, which does not know who made a key. */
async function insertAsBefore(
  of: OwnedDatabase,
  people: { organization: OrganizationRef; owner: string },
  actor: string | null,
): Promise<{ id: string; text: string }> {
  const { organization: home, owner: userId } = people;
  const [id, text] = [newId(), createKeyText()];
  const entry = {
    action: "api_keys:create",
    resource_type: "api_key",
    resource_id: id,
    space_id: null,
    request_id: null,
    outcome: "success",
  } as const;
  await inTenant(of, home, async (sql) => {
    await sql.query(
      `insert into api_keys (id, organization_id, user_id, name, prefix, hash, all_spaces, capabilities)
       values ($1, $2, $3, 'k', 'sk-', $4, true, '{read}')`,
      [id, home.id, userId, hashKey(TEST_PEPPER, text)],
    );
    const caller = { authMethod: "jwt", apiKeyId: null, organization: home, user: { id: actor } } as never;
    await appendAudit(sql, actor === null ? { authMethod: "system", organization: home } : caller, entry);
  });
  return { id, text };
}

describe("a key that somebody else made for its owner", () => {
  it("reaches only shared spaces, also in the version before; other keys reach all", async () => {
    const both = [shared, own].toSorted();
    for (const [createdBy, reach] of [
      [admin, [shared]],
      [owner, both],
      [null, both],
    ] as const) {
      const { text } = await makeKey(db, organization, owner, { createdBy });
      expect(await reachOfKey(db, text)).toEqual(reach);
      expect((await seenByVersionBefore(db, text))?.reach).toEqual(reach);
    }
    const { text } = await makeKey(db, organization, owner, { createdBy: admin, spaces: [own, shared] });
    expect(await reachOfKey(db, text)).toEqual([shared]);
  });

  it("cannot be narrowed to the private space, which is answered as if it did not exist", async () => {
    const request = { userId: owner, name: "k", capabilities: null, expiresAt: null, allowedCidrs: null };
    const issue = (createdBy: string | null) =>
      inTenant(db, organization, (sql) =>
        writeKey(sql, TEST_PEPPER, organization, { ...request, createdBy, spaces: [own] }),
      );
    await expect(issue(admin)).rejects.toMatchObject({ code: "not_found", message: "Space not found" });
    expect((await issue(owner)).spaces).toEqual([own]);
    expect((await issue(null)).spaces).toEqual([own]);
  });

  it("has its maker also if a process of the version before made it", async () => {
    const people = { organization, owner };
    const [byAdmin, bySelf, byOperator] = [
      await insertAsBefore(db, people, admin),
      await insertAsBefore(db, people, owner),
      await insertAsBefore(db, people, null),
    ];
    const { rows } = await db.owner.query(
      "select id, created_by from api_keys where id = any($1) order by id",
      [[byAdmin.id, bySelf.id, byOperator.id]],
    );
    expect(rows).toEqual([
      { id: byAdmin.id, created_by: admin },
      { id: bySelf.id, created_by: owner },
      { id: byOperator.id, created_by: null },
    ]);
    expect(await reachOfKey(db, byAdmin.text)).toEqual([shared]);
  });
});
