/** By which e-mail addresses a first login binds users, also after an import. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readDirectory } from "../../../src/db/transfer/export.ts";
import { insertDirectory, insertOrganization } from "../../../src/db/transfer/import.ts";
import { putMember } from "../../../src/db/tenancy/members.ts";
import { inTenant, type OrganizationRef } from "../../../src/db/pool.ts";
import { ensurePrivateSpace } from "../../../src/db/tenancy/spaces.ts";
import { newId } from "../../../src/domain/ids.ts";
import { makeKey, makeOrganization, makeUser } from "../../support/tenants/callers.ts";
import { createTestDatabase, type OwnedDatabase, type TestDatabase } from "../../support/servers/database.ts";
import { until } from "../../support/until.ts";

let test: TestDatabase;
let db: OwnedDatabase;
let organization: OrganizationRef;
let owner: string;
let admin: string;

beforeAll(async () => {
  test = await createTestDatabase();
  db = test.db;
  organization = await makeOrganization(db);
  [owner, admin] = [await makeUser(db, organization), await makeUser(db, organization, { role: "admin" })];
  await inTenant(db, organization, (sql) => ensurePrivateSpace(sql, organization, owner));
});
afterAll(() => test.drop());

describe("the e-mail address of a user who is not bound", () => {
  const put = (id: string, email: string) =>
    inTenant(db, organization, (sql) =>
      putMember(sql, organization, { id, email, name: "A User", role: "member" }),
    );
  const stays = {
    code: "bad_request",
    message: expect.stringContaining("cannot be changed: the private space would pass to somebody else"),
  };

  it("stays if the user has a private space, or a key that makes one with its first use", async () => {
    const { rows } = await db.owner.query<{ email: string }>("select email from users where id = $1", [
      owner,
    ]);
    await expect(put(owner, "other@example.org")).rejects.toMatchObject(stays);
    expect(await put(owner, rows[0]!.email.toUpperCase())).toBe(false);
    const user = await makeUser(db, organization);
    const { id } = await makeKey(db, organization, user, { createdBy: null });
    await expect(put(user, "typo@example.org")).rejects.toMatchObject(stays);
    await db.owner.query("update api_keys set created_by = $2 where id = $1", [id, admin]);
    expect(await put(user, "mended@example.org")).toBe(false);
  });

  it("stays also if the private space is made at the same moment", async () => {
    const user = await makeUser(db, organization);
    const other = await db.owner.connect();
    try {
      await other.query("begin");
      await ensurePrivateSpace(other, organization, user);
      const changed = put(user, "racer@example.org").catch((error: unknown) => error);
      await until(
        "the change waits",
        async () =>
          (
            await db.owner.query(
              "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
            )
          ).rowCount! > 0,
      );
      await other.query("commit");
      expect(await changed).toMatchObject(stays);
    } finally {
      other.release(true);
    }
  });
});

describe("an archive", () => {
  it("has lifetimes of keys and unconfirmed addresses", async () => {
    await db.owner.query(
      `update organizations
       set max_key_lifetime_seconds = 3600,
           default_key_lifetime_seconds = 60
       where id = $1`,
      [organization.id],
    );
    await db.owner.query("update users set confirmed_email = 'before@example.org' where id = $1", [owner]);
    const directory = await inTenant(db, organization, (sql) => readDirectory(sql, organization.id));
    const { name, ...lifetimes } = directory.organization;
    expect(lifetimes).toEqual({ max_key_lifetime_seconds: 3_600, default_key_lifetime_seconds: 60 });
    const target = await createTestDatabase();
    try {
      const arrive = async (id: string, archived: typeof directory.organization) => {
        await insertOrganization(target.db, { id, archived, operationId: newId() });
        const { rows } = await target.db.owner.query(
          `select num, max_key_lifetime_seconds, default_key_lifetime_seconds
           from organizations
           where id = $1`,
          [id],
        );
        return rows[0];
      };
      const { num, ...arrived } = await arrive(organization.id, { name, ...lifetimes });
      expect(arrived).toEqual(lifetimes);
      const { id } = organization;
      await inTenant(target.db, { id, num }, (sql) => insertDirectory(sql, id, directory));
      const { rows } = await target.db.owner.query(
        "select id, confirmed_email from users where confirmed_email is not null",
      );
      expect(rows).toEqual([{ id: owner, confirmed_email: "before@example.org" }]);
    } finally {
      await target.drop();
    }
  });
});
