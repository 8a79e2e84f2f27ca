/**
 * Each kind of change to roles, owners, policies, rights and triggers by hand: it is found, described and
 * repaired.
 */
import { afterEach, beforeEach, expect, test } from "vitest";
import { assertSchema, describeAccessFaults, migrate } from "../../../src/db/migrate.ts";
import { createTestDatabase, type TestDatabase } from "../../support/servers/database.ts";

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(() => database.drop());

const run = (statements: string) => database.db.owner.query(statements);

const TAMPERED: ReadonlyArray<readonly [statement: string, told: string]> = [
  ["drop policy tenant on documents", "table documents lacks the policy tenant"],
  ["alter policy tenant on chunks using (true)", "table chunks has another form of the policy tenant"],
  ["alter policy tenant on users to public", "table users has another form of the policy tenant"],
  [
    `drop policy maintenance_deletes on spaces;
     create policy maintenance_deletes on spaces for delete to holdfast_maintenance using (true)`,
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
    "function reach_of(uuid, uuid) runs as invoker search_path=public, pg_temp, " +
      "and should as definer search_path=public, pg_temp",
  ],
  [
    "alter function orphan_runs reset search_path",
    "function orphan_runs(integer[], integer[]) runs as definer, " +
      "and should as definer search_path=public, pg_temp",
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
    `create or replace function current_organization_id() returns uuid
       language sql stable parallel safe
       return (select min(id::text)::uuid from public.organizations)`,
    "function current_organization_id() has another body, so that the tenant wall does not hold",
  ],
  [
    `create or replace function current_organization_num() returns int
       language sql stable parallel safe as 'select 1'`,
    "function current_organization_num() has another body, so that the tenant wall does not hold",
  ],
  ["drop trigger note_key_creator on audit_log", "table audit_log lacks the trigger note_key_creator"],
  ["alter table spaces disable trigger forget_vectors", "table spaces has the trigger forget_vectors off"],
  ["alter table documents disable trigger all", "table documents has the triggers of foreign keys off"],
];

test("each change is reported when a process starts, and repaired by migrate", async () => {
  for (const [statement] of TAMPERED) await run(statement);
  const told = await describeAccessFaults(database.db);
  for (const [, line] of TAMPERED) expect(told).toContain(line);
  expect(told).toHaveLength(TAMPERED.length);
  await expect(assertSchema(database.db)).rejects.toThrow(
    new RegExp(
      "^The database is not as this version needs it: [^\\n]*; and 28 more\\. " +
        "Run `holdfast migrate` as the owner of the schema\\.$",
    ),
  );
  expect((await migrate(database.db)).mended.toSorted()).toEqual(told.toSorted());
  expect(await describeAccessFaults(database.db)).toEqual([]);
});
