/**
 * Maintenance makes indexes, so it owns the tables of vectors. Code that it plants there never runs with more
 * rights than its own or those of the application.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findOrphanRuns } from "../../../src/db/upkeep/organization-integrity.ts";
import { countFaults } from "../../../src/integrity/organization.ts";
import { requestOrganizationDeletion } from "../../../src/db/outbox/operations.ts";
import {
  countOrganizationRows,
  deleteOrganizationRows,
} from "../../../src/db/tenancy/closed-organization.ts";
import { type OrganizationRef, inTenant } from "../../../src/db/pool.ts";
import { makeOrganization, makeSpace, makeUser } from "../../support/tenants/callers.ts";
import { type OwnedDatabase, type TestDatabase, createTestDatabase } from "../../support/servers/database.ts";

/**
 * Makes a space with one vector, which names a run that does not exist.
 * @returns its id, its number and the table of its vector.
 */
async function makeSpaceWithVector(
  db: OwnedDatabase,
  organization: OrganizationRef,
): Promise<{ id: string; num: number; table: string }> {
  const id = await makeSpace(db, organization, [[await makeUser(db, organization), "owner"]]);
  const { rows } = await db.owner.query<{ num: number }>("select num from spaces where id = $1", [id]);
  const { num } = rows[0]!;
  const vector = `
    insert into embeddings (organization_num, space_num, run_num, chunk_index, model_num, embedding)
    values ($1, $2, 1, 0, 1, '[1]')
    returning tableoid::regclass::text as name`;
  const inserted = await inTenant(db, organization, (sql) =>
    sql.query<{ name: string }>(vector, [organization.num, num]),
  );
  return { id, num, table: inserted.rows[0]!.name };
}

async function deleteSpace(db: OwnedDatabase, organization: OrganizationRef, id: string): Promise<void> {
  await inTenant(db, organization, async (sql) => {
    await sql.query("delete from space_members where space_id = $1", [id]);
    await sql.query("delete from spaces where id = $1", [id]);
  });
}

let planted: TestDatabase;
let organization: OrganizationRef;
beforeAll(async () => {
  planted = await createTestDatabase();
  organization = await makeOrganization(planted.db);
});
afterAll(() => planted.drop());

it("a deleted space takes its vectors with it, whoever deletes it", async () => {
  const space = await makeSpaceWithVector(planted.db, organization);
  await deleteSpace(planted.db, organization, space.id);
  expect(
    (await planted.db.owner.query("select from embeddings where space_num = $1", [space.num])).rowCount,
  ).toBe(0);
});

describe("what maintenance plants on its tables of vectors", () => {
  /** Fails for everybody but the two logins that may use these tables. */
  const CODE = `begin
    if current_user not in ('holdfast_app', 'holdfast_maintenance') then
      raise exception 'planted code runs as %', current_user;
    end if;`;

  it("is on each of them: trigger, rule, policy, constraint, and the predicate of an index", async () => {
    await planted.db.maintenance.query(`
      create function vectors.planted_trigger() returns trigger
        language plpgsql
        as $$ ${CODE} return old; end $$;
      create function vectors.planted(int) returns boolean
        language plpgsql immutable
        as $$ ${CODE} return true; end $$;
      do $$
      declare
        part regclass;
      begin
        for part in
          select inhrelid::regclass
          from pg_inherits
          where inhparent = 'public.embeddings'::regclass
        loop
          execute format(
            'create trigger planted before delete on %s
               for each row execute function vectors.planted_trigger()',
            part
          );
          execute format(
            'create constraint trigger planted_late after delete on %s deferrable initially deferred
               for each row execute function vectors.planted_trigger()',
            part
          );
          execute format('create rule planted as on delete to %s do also select vectors.planted(1)', part);
          execute format('create policy planted on %s using (vectors.planted(1))', part);
          execute format('alter table %s add check (vectors.planted(1))', part);
          execute format('create index on %s (run_num) where vectors.planted(1)', part);
        end loop;
      end $$`);
    await expect(planted.db.owner.query("select count(*) from embeddings where run_num = 1")).rejects.toThrow(
      "planted code runs as postgres",
    );
  });

  it("runs as the application when faults are counted and orphans looked for", async () => {
    const space = await makeSpaceWithVector(planted.db, organization);
    expect(await findOrphanRuns(planted.db, organization)).toEqual([
      { run_num: 1, space_num: space.num, kind: "entries_without_run" },
    ]);
    expect(await countFaults(planted.db, organization)).toMatchObject({
      entries_without_run: 1,
      published_incomplete: 0,
    });
  });

  it("runs as the application when that deletes a space", async () => {
    const space = await makeSpaceWithVector(planted.db, organization);
    await deleteSpace(planted.db, organization, space.id);
    expect(
      (await planted.db.maintenance.query("select from embeddings where space_num = $1", [space.num]))
        .rowCount,
    ).toBe(0);
  });

  it("never runs with the owner's rights: no such function names vectors or deletes spaces", async () => {
    const { rows } = await planted.db.owner.query(
      `select proname::text
       from pg_proc
       where prosecdef
         and pg_get_functiondef(oid) ~* $1
         and pronamespace = 'public'::regnamespace`,
      ["((from|join|into|update) +(public\\.)?embeddings|delete +from +(public\\.)?spaces)\\M"],
    );
    expect(rows).toEqual([]);
  });

  it("runs as maintenance when an organization is deleted, whose functions refuse these tables", async () => {
    const { table } = await makeSpaceWithVector(planted.db, organization);
    expect(
      (await planted.db.maintenance.query("delete from spaces where organization_id = $1", [organization.id]))
        .rowCount,
    ).toBe(0);
    await requestOrganizationDeletion(planted.db, organization, 0);
    for (const refused of [table, "spaces", "embeddings"])
      await expect(
        planted.db.maintenance.query("select delete_rows_of_closed($1, $2, 10)", [organization.id, refused]),
      ).rejects.toThrow("the table holds no rows of organizations");
    const before = await countOrganizationRows(planted.db, organization);
    const deleted = await deleteOrganizationRows(planted.db, organization);
    expect(deleted).toMatchObject({ spaces: 2 });
    // Of two spaces, whose numbers may belong to the same partition.
    const vectors = Object.entries(deleted).filter(([name]) => name.startsWith("embeddings_"));
    expect(vectors.map(([name]) => name)).toContain(table.replace("vectors.", ""));
    expect(vectors.reduce((sum, [, count]) => sum + count, 0)).toBe(2);
    expect(before).toBeGreaterThan(3);
    expect(await countOrganizationRows(planted.db, organization)).toBe(0);
  });
});
