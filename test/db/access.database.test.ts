/** What `holdfast migrate` gives back of roles, owners, policies and rights, and what a process says that misses some. */
import { randomBytes } from "node:crypto";
import { afterEach, beforeEach, expect, test } from "vitest";
import { FUNCTIONS, TABLES, VECTOR_TABLES } from "../../src/db/access/declared.ts";
import { assertSchema, describeAccessFaults, migrate } from "../../src/db/migrate.ts";
import { openOwner } from "../../src/db/pool.ts";
import { createTestDatabase, type TestDatabase } from "../support/servers/database.ts";

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(() => database.drop());

const run = (statements: string) => database.db.owner.query(statements);

/** Read past the code under test: owners, row-level security, policies, rights of everything in the two schemas. */
async function catalogue(): Promise<string[]> {
  const acl = (column: string, kind: string, owner: string) =>
    `array(select concat_ws(' ', g.grantor::regrole, g.grantee::regrole, g.privilege_type, g.is_grantable) from aclexplode(coalesce(${column}, acldefault('${kind}', ${owner}))) g order by 1)`;
  const { rows } = await database.db.owner.query<{ fact: string }>(
    `with space as (select * from pg_namespace where nspname in ('public', 'vectors'))
     select row_to_json(t)::text as fact from (
       select nspname as name, nspowner::regrole as owner, ${acl("nspacl", "n", "nspowner")} as acl from space) t
     union all select row_to_json(t)::text from (
       select c.oid::regclass as name, relkind, relowner::regrole as owner, relrowsecurity, relforcerowsecurity, ${acl("relacl", "r", "relowner")} as acl,
         array(select attname || ${acl("attacl", "c", "relowner")}::text from pg_attribute where attrelid = c.oid and attacl <> '{}' order by attname) as columns
       from pg_class c join space on space.oid = relnamespace where relkind in ('r', 'p', 'v', 'm', 'S')) t
     union all select row_to_json(t)::text from (
       select polrelid::regclass as name, polname, polcmd, polpermissive, polroles::regrole[] as roles, pg_get_expr(polqual, polrelid) as using, pg_get_expr(polwithcheck, polrelid) as check
       from pg_policy) t
     union all select row_to_json(t)::text from (
       select p.oid::regprocedure as name, proowner::regrole as owner, prosecdef, proconfig, ${acl("proacl", "f", "proowner")} as acl
       from pg_proc p join space on space.oid = pronamespace) t
     union all select row_to_json(t)::text from (select d.* from pg_default_acl d) t
     order by 1`,
  );
  return rows.map(({ fact }) => fact);
}

/** As after a restore into a server that had none of the roles. */
const TAKE_ALL = `do $$
declare one record;
begin
  for one in select polname, polrelid::regclass as rel from pg_policy loop execute format('drop policy %I on %s', one.polname, one.rel); end loop;
  for one in select c.oid::regclass as rel, relnamespace::regnamespace::text as space from pg_class c
    where relnamespace in ('public'::regnamespace, 'vectors'::regnamespace) and relkind in ('r', 'p') loop
    execute format('alter table %s owner to postgres', one.rel);
    execute format('alter table %s disable row level security', one.rel);
    execute format('revoke all on %s from holdfast_app, holdfast_system, holdfast_maintenance', one.rel);
  end loop;
  for one in select p.oid::regprocedure as routine from pg_proc p join pg_language l on l.oid = prolang
    where pronamespace = 'public'::regnamespace and lanname <> 'c' and prokind in ('f', 'p') loop
    execute format('revoke all on routine %s from holdfast_app, holdfast_system, holdfast_maintenance', one.routine);
    execute format('grant execute on routine %s to public', one.routine);
  end loop;
  revoke all on schema public, vectors from holdfast_app, holdfast_system, holdfast_maintenance;
end $$`;

test("what the migrations give is what is declared, and migrate gives back every part of it once it was taken away", async () => {
  const { rows } = await database.db.owner.query<{ name: string }>(
    `select c.oid::regclass::text as name from pg_class c where relnamespace in ('public'::regnamespace, 'vectors'::regnamespace) and relkind in ('r', 'p')
     union all select proname || '(' || oidvectortypes(proargtypes) || ')' from pg_proc p
     where pronamespace = 'public'::regnamespace and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')`,
  );
  expect(rows.map(({ name }) => name).toSorted()).toEqual(
    [...Object.keys(TABLES), ...VECTOR_TABLES, ...Object.keys(FUNCTIONS)].toSorted(),
  );
  expect(await migrate(database.db)).toEqual({ applied: [], mended: [] });
  const before = await catalogue();
  expect(before.length).toBeGreaterThan(300);
  await run(TAKE_ALL);
  // Two at once, as the jobs of two deployments: one mends, the other finds it done.
  const mended = (await Promise.all([migrate(database.db), migrate(database.db)]))
    .map((one) => one.mended.length)
    .toSorted((a, b) => a - b);
  expect(mended[0]).toBe(0);
  expect(mended[1]).toBeGreaterThan(500);
  expect(await catalogue()).toEqual(before);
  expect(await migrate(database.db)).toEqual({ applied: [], mended: [] });
});

const TAMPERED: ReadonlyArray<readonly [statement: string, told: string]> = [
  ["drop policy tenant on documents", "table documents lacks the policy tenant"],
  ["alter policy tenant on chunks using (true)", "table chunks has another form of the policy tenant"],
  ["alter policy tenant on users to public", "table users has another form of the policy tenant"],
  [
    "drop policy maintenance_deletes on spaces; create policy maintenance_deletes on spaces for delete to holdfast_maintenance using (true)",
    "table spaces has another form of the policy maintenance_deletes",
  ],
  [
    "create policy planted on documents to holdfast_app using (true)",
    "table documents has the policy planted, which is none of this version",
  ],
  [
    "alter table postings disable row level security",
    "table postings has row-level security off, and should have it on",
  ],
  [
    "alter table vectors.embeddings_7 disable row level security",
    "table vectors.embeddings_7 has row-level security off, and should have it on",
  ],
  [
    "alter table text_blocks force row level security",
    "table text_blocks has row-level security forced, and should have it on",
  ],
  [
    "revoke insert on documents from holdfast_app",
    "table documents lacks the right of holdfast_app to insert",
  ],
  [
    "revoke update (chain_hash) on audit_log from holdfast_maintenance",
    "table audit_log lacks the right of holdfast_maintenance to update (chain_hash)",
  ],
  ["grant select on chunks to holdfast_system", "table chunks lets holdfast_system select, and should not"],
  [
    "grant update (name) on organizations to holdfast_app",
    "table organizations lets holdfast_app update (name), and should not",
  ],
  [
    "grant select on documents to holdfast_app with grant option",
    "table documents lets holdfast_app grant select to others",
  ],
  ["grant select on instance_secrets to public", "table instance_secrets lets public select, and should not"],
  [
    "grant select on vectors.embeddings_3 to holdfast_app",
    "table vectors.embeddings_3 lets holdfast_app select, and should not",
  ],
  [
    "alter table vectors.embeddings_9 owner to postgres",
    "table vectors.embeddings_9 belongs to postgres, and should to holdfast_maintenance",
  ],
  [
    "alter table spaces owner to holdfast_system",
    "table spaces belongs to holdfast_system, and should to postgres",
  ],
  [
    "grant execute on function close_organization to public",
    "function close_organization(uuid) lets public execute, and should not",
  ],
  [
    "revoke execute on function authenticate_token from holdfast_app",
    "function authenticate_token(text, text) lacks the right of holdfast_app to execute",
  ],
  [
    "alter function reach_of security invoker",
    "function reach_of(uuid, uuid) runs as invoker search_path=public, pg_temp, and should as definer search_path=public, pg_temp",
  ],
  [
    "alter function orphan_runs reset search_path",
    "function orphan_runs(integer[], integer[]) runs as definer, and should as definer search_path=public, pg_temp",
  ],
  [
    "alter function folder_path owner to holdfast_app",
    "function folder_path(uuid) belongs to holdfast_app, and should to postgres",
  ],
  [
    "grant create on schema public to holdfast_maintenance",
    "schema public lets holdfast_maintenance create, and should not",
  ],
  [
    "revoke usage on schema vectors from holdfast_maintenance",
    "schema vectors lacks the right of holdfast_maintenance to usage",
  ],
  [
    "alter default privileges in schema public grant select on tables to holdfast_app",
    "role postgres gives holdfast_app the right select by default",
  ],
  [
    "create view everything as select * from documents; grant select on everything to holdfast_app",
    "table everything lets holdfast_app select, and should not",
  ],
  [
    "create or replace function current_organization_id() returns uuid language sql stable parallel safe return (select min(id::text)::uuid from public.organizations)",
    "function current_organization_id() has another body, so that the tenant wall does not hold",
  ],
  [
    "create or replace function current_organization_num() returns int language sql stable parallel safe as 'select 1'",
    "function current_organization_num() has another body, so that the tenant wall does not hold",
  ],
  ["drop trigger note_key_creator on audit_log", "table audit_log lacks the trigger note_key_creator"],
  ["alter table spaces disable trigger user", "table spaces has the trigger forget_vectors off"],
  ["alter table documents disable trigger all", "table documents has the triggers of foreign keys off"],
];

test("each thing that was taken, changed or added is told by a process that would start, and mended", async () => {
  for (const [statement] of TAMPERED) await run(statement);
  const told = await describeAccessFaults(database.db);
  for (const [, line] of TAMPERED) expect(told).toContain(line);
  expect(told.length).toBe(TAMPERED.length);
  await expect(assertSchema(database.db)).rejects.toThrow(
    /^The database is not as this version needs it: [^\n]*; and 28 more\. Run `holdfast migrate` as the owner of the schema\.$/,
  );
  expect((await migrate(database.db)).mended.toSorted()).toEqual(told.toSorted());
  expect(await describeAccessFaults(database.db)).toEqual([]);
});

test("a role that gets more by a group that it is put into is told and taken out of it; a group that has nothing here is no fault", async () => {
  const [group, outer, harmless] = ["group", "outer", "harmless"].map(
    (name) => `${name}_${randomBytes(4).toString("hex")}`,
  );
  await run(
    `create role ${group}; create role ${outer}; create role ${harmless}; grant ${harmless}, ${outer} to holdfast_app; grant ${group} to ${outer}`,
  );
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

test("an older process starts on the schema of a newer version, and takes nothing of it away; what its own tables lack it still tells", async () => {
  await run(`insert into migrations (name) values ('9999_later.sql'); create table later (id int); grant select on later, chunks to holdfast_system;
    create policy later on documents as restrictive to holdfast_app using (true); alter policy tenant on folders using (organization_id = current_organization_id())`);
  expect(await describeAccessFaults(database.db)).toEqual([]);
  const before = await catalogue();
  expect(await migrate(database.db)).toEqual({ applied: [], mended: [] });
  expect(await catalogue()).toEqual(before);
  await run("drop policy tenant on documents; revoke select on spaces from holdfast_app");
  expect(await describeAccessFaults(database.db)).toEqual([
    "table documents lacks the policy tenant",
    "table spaces lacks the right of holdfast_app to select",
  ]);
  expect((await migrate(database.db)).mended.length).toBe(2);
});

test("what nobody can mend is told, and changes nothing", async () => {
  await run("drop table turn_calls; drop function run_lane cascade; drop policy tenant on documents");
  await expect(migrate(database.db)).rejects.toThrow(
    "The database cannot be mended: table turn_calls is missing; function run_lane(text, bigint) is missing. Restore it from a back-up that is whole.",
  );
  expect(await describeAccessFaults(database.db)).toContain("table documents lacks the policy tenant");
});

test("an owner that is no superuser mends what a restore under its own name leaves, and says what it may not", async () => {
  const owner = `managed_${randomBytes(4).toString("hex")}`;
  await run(
    `create role ${owner} login password 'p' createrole; grant holdfast_app, holdfast_system, holdfast_maintenance to ${owner} with admin option`,
  );
  await run(`alter database ${new URL(database.url).pathname.slice(1)} owner to ${owner}`);
  const pool = openOwner(
    Object.assign(new URL(database.url), { username: owner, password: "p" }).toString(),
    () => undefined,
  );
  try {
    await expect(migrate({ owner: pool })).resolves.toEqual({ applied: [], mended: [] });
    await run("drop policy tenant on documents");
    await expect(migrate({ owner: pool })).rejects.toThrow(
      /^table documents lacks the policy tenant, and this login may not mend it \(must be owner of [^)]*\)\. As a superuser run, and then `holdfast migrate`: .*;$/,
    );
    // As pg_restore --no-owner leaves it: everything is whose login it was.
    await run(`do $$ declare one record; begin
      for one in select c.oid::regclass as rel from pg_class c where relnamespace in ('public'::regnamespace, 'vectors'::regnamespace) and relkind in ('r', 'p')
        loop execute format('alter table %s owner to ${owner}', one.rel); end loop;
      for one in select p.oid::regprocedure as routine from pg_proc p where pronamespace = 'public'::regnamespace
        and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e') loop execute format('alter routine %s owner to ${owner}', one.routine); end loop;
      alter schema vectors owner to ${owner};
      end $$`);
    expect((await migrate({ owner: pool })).mended.filter((line) => line.includes("belongs to")).length).toBe(
      64,
    );
    expect(await describeAccessFaults(database.db)).toEqual([]);
    await database.db.maintenance.query("create index concurrently built on vectors.embeddings_0 (run_num)");
  } finally {
    await pool.end();
    await run(`reassign owned by ${owner} to postgres; drop owned by ${owner}`);
    await run(`drop role ${owner}`);
  }
});

test("a login that may not make the roles, or is not the owner, is told what to run, and not to migrate", async () => {
  const login = `stranger_${randomBytes(4).toString("hex")}`;
  await run(`create role ${login} login password 'p'`);
  const pool = openOwner(
    Object.assign(new URL(database.url), { username: login, password: "p" }).toString(),
    () => undefined,
  );
  try {
    await expect(migrate({ owner: pool })).rejects.toThrow(
      new RegExp(
        `^This login may not make the roles of the service or act as them \\(permission denied [^)]*\\).*grant holdfast_app, holdfast_system, holdfast_maintenance to ${login};$`,
      ),
    );
    await run(`grant holdfast_app, holdfast_system, holdfast_maintenance to ${login}`);
    await expect(migrate({ owner: pool })).rejects.toThrow(
      /^This login may not migrate the database \(permission denied [^)]*\): DATABASE_OWNER_URL must name the owner/,
    );
  } finally {
    await pool.end();
    await run(`drop role ${login}`);
  }
});

test("a database without rights is told by what it lacks, and one without tables by its migrations", async () => {
  await run(TAKE_ALL);
  await expect(assertSchema(database.db)).rejects.toThrow(
    /: schema public lacks the right of holdfast_app to usage; /,
  );
  await run("drop schema public cascade; drop schema vectors cascade; create schema public");
  await expect(assertSchema(database.db)).rejects.toThrow(
    /lacks migrations of this version \(0001_tenancy\.sql; .*`holdfast migrate` first/,
  );
});
