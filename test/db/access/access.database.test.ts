/**
 * What `holdfast migrate` repairs of roles, owners, policies and rights, and what a process says if some are
 * missing.
 */
import { randomBytes } from "node:crypto";
import { afterEach, beforeEach, expect, test } from "vitest";
import { TABLES, VECTOR_TABLES } from "../../../src/db/access/declared.ts";
import { FUNCTIONS } from "../../../src/db/access/declared-functions.ts";
import { assertSchema, describeAccessFaults, migrate } from "../../../src/db/migrate.ts";
import { createTestDatabase, type TestDatabase } from "../../support/servers/database.ts";

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(() => database.drop());

const run = (statements: string) => database.db.owner.query(statements);

/** The list of rights in `column`, as a text for each. */
const acl = (column: string, kind: string, owner: string) => `array(
  select concat_ws(
           ' ',
           entry.grantor::regrole,
           entry.grantee::regrole,
           entry.privilege_type,
           entry.is_grantable
         )
  from aclexplode(coalesce(${column}, acldefault('${kind}', ${owner}))) entry
  order by 1
)`;

const CATALOGUE = `
  with space as (
    select *
    from pg_namespace
    where nspname in ('public', 'vectors')
  )
  select row_to_json(t)::text as fact
  from (
    select nspname as name,
           nspowner::regrole as owner,
           ${acl("nspacl", "n", "nspowner")} as acl
    from space
  ) t
  union all
  select row_to_json(t)::text
  from (
    select c.oid::regclass as name,
           relkind,
           relowner::regrole as owner,
           relrowsecurity,
           relforcerowsecurity,
           ${acl("relacl", "r", "relowner")} as acl,
           array(
             select attname || ${acl("attacl", "c", "relowner")}::text
             from pg_attribute
             where attrelid = c.oid
               and attacl <> '{}'
             order by attname
           ) as columns
    from pg_class c
    join space on space.oid = relnamespace
    where relkind in ('r', 'p', 'v', 'm', 'S')
  ) t
  union all
  select row_to_json(t)::text
  from (
    select polrelid::regclass as name,
           polname,
           polcmd,
           polpermissive,
           polroles::regrole[] as roles,
           pg_get_expr(polqual, polrelid) as using,
           pg_get_expr(polwithcheck, polrelid) as check
    from pg_policy
  ) t
  union all
  select row_to_json(t)::text
  from (
    select p.oid::regprocedure as name,
           proowner::regrole as owner,
           prosecdef,
           proconfig,
           ${acl("proacl", "f", "proowner")} as acl
    from pg_proc p
    join space on space.oid = pronamespace
  ) t
  union all
  select row_to_json(t)::text
  from (select d.* from pg_default_acl d) t
  order by 1`;

/**
 * Reads owners, row-level security, policies and rights of everything in the two schemas, without the code
 * under test.
 */
async function catalogue(): Promise<string[]> {
  const { rows } = await database.db.owner.query<{ fact: string }>(CATALOGUE);
  return rows.map(({ fact }) => fact);
}

/** Leaves what a restore into a server without the roles leaves. */
const TAKE_ALL = `do $$
declare one record;
begin
  for one in select polname, polrelid::regclass as rel from pg_policy loop
    execute format('drop policy %I on %s', one.polname, one.rel);
  end loop;
  for one in
    select c.oid::regclass as rel
    from pg_class c
    where relnamespace in ('public'::regnamespace, 'vectors'::regnamespace)
      and relkind in ('r', 'p')
  loop
    execute format('alter table %s owner to postgres', one.rel);
    execute format('alter table %s disable row level security', one.rel);
    execute format('revoke all on %s from holdfast_app, holdfast_system, holdfast_maintenance', one.rel);
  end loop;
  for one in
    select p.oid::regprocedure as routine
    from pg_proc p
    join pg_language l on l.oid = prolang
    where pronamespace = 'public'::regnamespace
      and lanname <> 'c'
      and prokind in ('f', 'p')
  loop
    execute format(
      'revoke all on routine %s from holdfast_app, holdfast_system, holdfast_maintenance',
      one.routine
    );
    execute format('grant execute on routine %s to public', one.routine);
  end loop;
  revoke all on schema public, vectors from holdfast_app, holdfast_system, holdfast_maintenance;
end $$`;

test("the migrations give what is declared, and migrate restores it after all was taken away", async () => {
  const { rows } = await database.db.owner.query<{ name: string }>(
    `select c.oid::regclass::text as name
     from pg_class c
     where relnamespace in ('public'::regnamespace, 'vectors'::regnamespace)
       and relkind in ('r', 'p')
     union all
     select proname || '(' || oidvectortypes(proargtypes) || ')'
     from pg_proc p
     where pronamespace = 'public'::regnamespace
       and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')`,
  );
  expect(rows.map(({ name }) => name).toSorted()).toEqual(
    [...Object.keys(TABLES), ...VECTOR_TABLES, ...Object.keys(FUNCTIONS)].toSorted(),
  );
  expect(await migrate(database.db)).toEqual({ applied: [], mended: [] });
  const before = await catalogue();
  expect(before.length).toBeGreaterThan(300);
  await run(TAKE_ALL);
  // Two at once, like the jobs of two deployments: one repairs everything, the other finds nothing to do.
  const mended = (await Promise.all([migrate(database.db), migrate(database.db)]))
    .map((one) => one.mended.length)
    .toSorted((a, b) => a - b);
  expect(mended[0]).toBe(0);
  expect(mended[1]).toBeGreaterThan(500);
  expect(await catalogue()).toEqual(before);
  expect(await migrate(database.db)).toEqual({ applied: [], mended: [] });
});

test("a role is taken out of a group that has rights here, and stays in one that has none", async () => {
  const [group, outer, harmless] = ["group", "outer", "harmless"].map(
    (name) => `${name}_${randomBytes(4).toString("hex")}`,
  );
  await run(`
    create role ${group};
    create role ${outer};
    create role ${harmless};
    grant ${harmless}, ${outer} to holdfast_app;
    grant ${group} to ${outer}`);
  try {
    expect(await describeAccessFaults(database.db)).toEqual([]);
    for (const grant of [
      `create policy everything on documents to ${group} using (true)`,
      `grant select on instance_secrets to ${group}`,
    ]) {
      await run(`grant ${outer} to holdfast_app; ${grant}`);
      expect(await describeAccessFaults(database.db)).toEqual([`role holdfast_app is a member of ${outer}`]);
      expect((await migrate(database.db)).mended).toEqual([`role holdfast_app is a member of ${outer}`]);
      await run(`drop owned by ${group}`);
    }
  } finally {
    await run(`drop owned by ${group}; drop role ${group}, ${outer}, ${harmless}`);
  }
});

test("an older process accepts a newer schema, and still finds what its own tables lack", async () => {
  await run(`
    insert into migrations (name) values ('9999_later.sql');
    create table later (id int);
    grant select on later, chunks to holdfast_system;
    create policy later on documents as restrictive to holdfast_app using (true);
    alter policy tenant on folders using (organization_id = current_organization_id())`);
  expect(await describeAccessFaults(database.db)).toEqual([]);
  const before = await catalogue();
  expect(await migrate(database.db)).toEqual({ applied: [], mended: [] });
  expect(await catalogue()).toEqual(before);
  await run("drop policy tenant on documents; revoke select on spaces from holdfast_app");
  expect(await describeAccessFaults(database.db)).toEqual([
    "table documents lacks the policy tenant",
    "table spaces lacks the right of holdfast_app to select",
  ]);
  expect((await migrate(database.db)).mended).toHaveLength(2);
});

test("if something cannot be repaired, migrate says what, and changes nothing", async () => {
  await run("drop table turn_calls; drop function run_lane cascade; drop policy tenant on documents");
  await expect(migrate(database.db)).rejects.toThrow(
    "The database cannot be mended: table turn_calls is missing; " +
      "function run_lane(text, bigint) is missing. Restore it from a backup that is whole.",
  );
  expect(await describeAccessFaults(database.db)).toContain("table documents lacks the policy tenant");
});

test("a database without rights or without migrations says which it lacks", async () => {
  await run(TAKE_ALL);
  await expect(assertSchema(database.db)).rejects.toThrow(
    /: schema public lacks the right of holdfast_app to usage; /,
  );
  await run("drop schema public cascade; drop schema vectors cascade; create schema public");
  await expect(assertSchema(database.db)).rejects.toThrow(
    /lacks migrations of this version \(0001_tenancy\.sql; .*`holdfast migrate` first/,
  );
});
