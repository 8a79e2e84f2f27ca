/** Which logins may migrate, and what the others are told. */
import { randomBytes } from "node:crypto";
import { afterEach, beforeEach, expect, test } from "vitest";
import { describeAccessFaults, migrate } from "../../../src/db/migrate.ts";
import { openOwner } from "../../../src/db/pool.ts";
import { createTestDatabase, type TestDatabase } from "../../support/servers/database.ts";

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(() => database.drop());

const run = (statements: string) => database.db.owner.query(statements);

/** Gives everything to one login, like pg_restore --no-owner. */
const ownedBy = (owner: string) => `do $$
declare one record;
begin
  for one in
    select c.oid::regclass as rel
    from pg_class c
    where relnamespace in ('public'::regnamespace, 'vectors'::regnamespace)
      and relkind in ('r', 'p')
  loop
    execute format('alter table %s owner to ${owner}', one.rel);
  end loop;
  for one in
    select p.oid::regprocedure as routine
    from pg_proc p
    where pronamespace = 'public'::regnamespace
      and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')
  loop
    execute format('alter routine %s owner to ${owner}', one.routine);
  end loop;
  alter schema vectors owner to ${owner};
end $$`;

test("an owner that is no superuser repairs its own restore, and says what it may not repair", async () => {
  const owner = `managed_${randomBytes(4).toString("hex")}`;
  await run(`
    create role ${owner} login password 'p' createrole;
    grant holdfast_app, holdfast_system, holdfast_maintenance to ${owner} with admin option`);
  await run(`alter database ${new URL(database.url).pathname.slice(1)} owner to ${owner}`);
  const pool = openOwner(
    Object.assign(new URL(database.url), { username: owner, password: "p" }).toString(),
    () => undefined,
  );
  try {
    await expect(migrate({ owner: pool })).resolves.toEqual({ applied: [], mended: [] });
    await run("drop policy tenant on documents");
    await expect(migrate({ owner: pool })).rejects.toThrow(
      new RegExp(
        "^table documents lacks the policy tenant, " +
          "and this login may not mend it \\(must be owner of [^)]*\\)\\. " +
          "As a superuser run, and then `holdfast migrate`: .*;$",
      ),
    );
    await run(ownedBy(owner));
    expect(
      (await migrate({ owner: pool })).mended.filter((line) => line.includes("belongs to")),
    ).toHaveLength(64);
    expect(await describeAccessFaults(database.db)).toEqual([]);
    await database.db.maintenance.query("create index concurrently built on vectors.embeddings_0 (run_num)");
  } finally {
    await pool.end();
    await run(`reassign owned by ${owner} to postgres; drop owned by ${owner}`);
    await run(`drop role ${owner}`);
  }
});

test("a login that may not make the roles, or is not the owner, is told what to do first", async () => {
  const login = `stranger_${randomBytes(4).toString("hex")}`;
  await run(`create role ${login} login password 'p'`);
  const pool = openOwner(
    Object.assign(new URL(database.url), { username: login, password: "p" }).toString(),
    () => undefined,
  );
  const mustOwn =
    /^This login may not migrate the database \(permission denied [^)]*\): DATABASE_OWNER_URL must name the owner/;
  try {
    await expect(migrate({ owner: pool })).rejects.toThrow(mustOwn);
    // Whoever may read the version of the schema fails at the next step.
    await run(`grant select on migrations, cut_overs, responses to ${login}`);
    await expect(migrate({ owner: pool })).rejects.toThrow(
      new RegExp(
        "^This login may not make the roles of the service or act as them \\(permission denied [^)]*\\)" +
          `.*grant holdfast_app, holdfast_system, holdfast_maintenance to ${login};$`,
      ),
    );
  } finally {
    await pool.end();
    await run(`drop owned by ${login}`);
    await run(`drop role ${login}`);
  }
});
