/** Tests how the first organization of an instance is made, and dry runs of provisioning. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createAuthenticator } from "../../src/auth/authenticate.ts";
import { loadInstanceSecret } from "../../src/db/instance/secrets.ts";
import { hasNoOrganization } from "../../src/db/tenancy/new-organization.ts";
import { localMasterKey } from "../../src/storage/keys/keyring.ts";
import { createTestDatabase, type TestDatabase } from "../support/servers/database.ts";
import { runCommand } from "../support/stack/command.ts";
import { runCli } from "../support/stack/processes.ts";

const MASTER = Buffer.alloc(32, 3);
let database: TestDatabase;
let folder: string;
let env: Record<string, string>;

beforeAll(async () => {
  [database, folder] = await Promise.all([createTestDatabase(), mkdtemp(join(tmpdir(), "holdfast-first-"))]);
  env = {
    ...database.env,
    MASTER_KEY: MASTER.toString("base64"),
    DATA_DIR: folder,
    NODE_ENV: "production",
    PUBLIC_URL: "https://holdfast.example",
  };
});
afterAll(async () => {
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});

const countAll = async (): Promise<unknown> =>
  (
    await database.db.owner.query(
      `select (select count(*) from organizations) as organizations,
              (select count(*) from users)         as users,
              (select count(*) from spaces)        as spaces,
              (select count(*) from space_members) as members,
              (select count(*) from agents)        as agents,
              (select count(*) from api_keys)      as keys,
              (select count(*) from audit_log)     as audit`,
    )
  ).rows[0];

const create = (...options: string[]): Promise<string> =>
  runCommand(
    ["organization", "create", "--name", "Acme", "--admin-email", "Ada@acme.example", ...options],
    env,
  );

test("a dry run makes nothing where nothing was before, no secret of the instance either", async () => {
  const path = join(folder, "first.yaml");
  await writeFile(
    path,
    JSON.stringify({
      organizations: [{ name: "First", users: [{ email: "ada@first.example", api_keys: [{ name: "ci" }] }] }],
    }),
  );
  expect(await runCommand(["provision", path, "--dry-run"], env)).toContain(
    "made       key ci  (organizations[0].users[0].api_keys[0])",
  );
  expect((await database.db.owner.query("select name from instance_secrets")).rows).toEqual([]);
});

test("organization create makes a usable organization, and refuses its name again", async () => {
  expect(await hasNoOrganization(database.db)).toBe(true);
  const printed = await create("--space", "Research");
  expect(await hasNoOrganization(database.db)).toBe(false);
  const key = /shown only now: (sk-\S+)/.exec(printed)![1]!;
  expect(printed).toMatch(/curl -sS https:\/\/holdfast\.example\/v1\/data\/upload/);
  const authenticator = createAuthenticator({
    db: database.db,
    pepper: await loadInstanceSecret(database.db, "pepper", localMasterKey(MASTER)),
    verifyJwt: undefined,
  });
  const principal = await authenticator.authenticate({
    authorization: `Bearer ${key}`,
    organizationId: undefined,
    address: "127.0.0.1",
  });
  expect([
    principal.user.email,
    principal.organization.name,
    [...principal.reach.values()].map(({ role }) => role),
  ]).toEqual(["ada@acme.example", "Acme", ["owner", "owner"]]);
  expect(await runCommand(["keys", "list"], env)).toMatch(
    /ada@acme\.example +admin +first key +\S+ +all +all +never/,
  );
  const before = await countAll();
  const refused: unknown = await create("--json").catch((error: unknown) => error);
  expect(String(refused)).toMatch(
    /There is an organization called Acme already \([0-9a-f-]{36}\): nothing was changed\./,
  );
  expect(await countAll()).toEqual(before);
});

test("a dry run names each change, makes none, and lists what the file does not name", async () => {
  const path = join(folder, "tenants.yaml");
  const users = [
    { email: "ada@acme.example", name: "Ada L." },
    { email: "vic@acme.example", api_keys: [{ name: "ci", spaces: ["Lab"], capabilities: ["search"] }] },
  ];
  const spaces = [
    {
      name: "Lab",
      members: { "ada@acme.example": "owner", "vic@acme.example": "viewer" },
      agents: [{ name: "Helper" }],
    },
  ];
  await writeFile(path, JSON.stringify({ organizations: [{ name: "Acme", users, spaces }] }));
  const before = await countAll();
  const dry = await runCommand(["provision", path, "--dry-run"], env);
  expect(dry.split("\n")).toEqual(
    expect.arrayContaining([
      "unchanged  organization Acme  (organizations[0])",
      "changed    user ada@acme.example  (organizations[0].users[0])",
      "made       user vic@acme.example  (organizations[0].users[1])",
      "made       space Lab  (organizations[0].spaces[0])",
      "made       agent Helper  (organizations[0].spaces[0].agents[0])",
      "made       key ci  (organizations[0].users[1].api_keys[0])",
      "not in the file, left unchanged: space Research of Acme",
      "not in the file, left unchanged: key first key of ada@acme.example of Acme",
    ]),
  );
  expect(dry).toMatch(/dry run, nothing was changed; would be \d+ added, \d+ changed/);
  expect(dry).not.toContain("sk-");
  expect(await runCommand(["provision", path, "--dry-run", "--json"], env)).not.toContain("sk-");
  expect(await countAll()).toEqual(before);
  const real = JSON.parse(await runCommand(["provision", path, "--json"], env)) as {
    unnamed: { listed: string[] };
    changes: unknown[];
  };
  expect(real.unnamed.listed).toEqual([
    "space Research of Acme",
    "key first key of ada@acme.example of Acme",
  ]);
  expect(await runCommand(["keys", "list", "--email", "vic@acme.example"], env)).toMatch(
    /member +ci +\S+ +Lab +search/,
  );
  const again = await runCommand(["provision", path], env);
  expect(again).toContain("not in the file, left unchanged: space Research of Acme");
  expect(again).toContain("everything matches the file");
  const { rows } = await database.db.owner.query("select deleted_at from spaces where name = 'Research'");
  expect(rows).toEqual([{ deleted_at: null }]);
});

test("backup verify reports a lost secret each time, and makes none in its place", async () => {
  await database.db.owner.query("delete from instance_secrets");
  for (let times = 0; times < 2; times += 1)
    await expect(runCli(["backup", "verify"], env)).rejects.toThrow(/secret_missing pepper +1/);
  expect((await database.db.owner.query("select name from instance_secrets")).rows).toEqual([]);
});
