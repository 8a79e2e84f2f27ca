import { randomBytes, randomUUID } from "node:crypto";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createAuthenticator } from "../../src/auth/authenticate.ts";
import { createJwtVerifier } from "../../src/auth/jwt.ts";
import { AUDIT_CHAIN_SECRET, chainAuditRows } from "../../src/db/audit/chain.ts";
import { loadInstanceSecret } from "../../src/db/instance/secrets.ts";
import { freePort } from "../../src/embedded/ports.ts";
import { issuerUrl, startIssuer } from "../../src/embedded/servers/issuer-part.ts";
import type { Running } from "../../src/embedded/processes/launch.ts";
import { localMasterKey } from "../../src/storage/keys/keyring.ts";
import { createTestDatabase, type TestDatabase } from "../support/servers/database.ts";
import { runCommand } from "../support/stack/command.ts";
import { runCli } from "../support/stack/processes.ts";

const MASTER = Buffer.alloc(32, 3);
const TENANTS = JSON.stringify({
  organizations: [
    {
      name: "Acme",
      users: [
        { email: "ada@acme.example", subject: "ada", role: "admin", api_keys: [{ name: "made" }] },
        { email: "vic@acme.example" },
      ],
      spaces: [{ name: "Research", members: { "ada@acme.example": "owner", "vic@acme.example": "viewer" } }],
    },
  ],
});

let test: TestDatabase;
let dataDir: string;
let env: Record<string, string>;
let issuer: Running;
let issuerPort: number;

beforeAll(async () => {
  [test, dataDir, issuerPort] = await Promise.all([
    createTestDatabase(),
    mkdtemp(join(tmpdir(), "holdfast-cli-")),
    freePort(),
  ]);
  env = {
    ...test.env,
    DATABASE_OWNER_URL: test.url,
    MASTER_KEY: MASTER.toString("base64"),
    DATA_DIR: dataDir,
    NODE_ENV: "test",
  };
  issuer = await startIssuer({ env, dataDir, port: issuerPort }, () => undefined);
});
afterAll(async () => {
  await issuer.stop();
  await test.drop();
  await rm(dataDir, { recursive: true, force: true });
});

const authenticator = async () =>
  createAuthenticator({
    db: test.db,
    pepper: await loadInstanceSecret(test.db, "pepper", localMasterKey(MASTER)),
    verifyJwt: createJwtVerifier({ issuer: issuerUrl(issuerPort), audience: "holdfast" }),
  });
const whoIs = async (token: string) =>
  (await authenticator()).authenticate({
    authorization: `Bearer ${token}`,
    organizationId: undefined,
    address: "127.0.0.1",
  });

describe("holdfast", () => {
  it("provision makes keys that authenticate, shows them once, and says what it did", async () => {
    const file = join(dataDir, "tenants.yaml");
    await writeFile(file, TENANTS);
    const first = JSON.parse(await runCommand(["provision", file, "--json"], env)) as {
      keys: { key: string }[];
    };
    expect((await whoIs(first.keys[0]!.key)).user.email).toBe("ada@acme.example");
    expect(await runCommand(["provision", file], env)).toBe("everything is as the file says\n");
  });

  it("drill hands its options on to the drill of the checkout", async () => {
    expect(await runCli(["drill", "--help"], env)).toMatch(/--rounds[\s\S]*--only/);
  });

  it("organization list names what there is", async () => {
    expect(JSON.parse(await runCommand(["organization", "list", "--json"], env))).toMatchObject([
      { name: "Acme" },
    ]);
    expect(await runCommand(["organization", "list"], env)).toContain("Acme");
  });

  it("provision ends with every mistake and no stack", async () => {
    const file = join(dataDir, "broken.yaml");
    await writeFile(file, "organizations: [{users: [{email: x}]}]");
    const failed: unknown = await runCli(["provision", file], env).catch((error: unknown) => error);
    expect(String(failed)).toMatch(
      /ended with 1[^]*organizations\[0\]\.name: is missing[^]*users\[0\]\.email: is not an e-mail address/,
    );
    expect(String(failed)).not.toContain("src/cli");
  });

  it("migrate finds nothing to do on a database that is up to date", async () => {
    expect(JSON.parse(await runCommand(["migrate", "--json"], env))).toEqual({ applied: [], mended: [] });
  });

  it("migrate asks for the owner's login, and lets the others in with the passwords of their URLs", async () => {
    const { DATABASE_OWNER_URL: _, ...served } = env;
    await expect(runCommand(["migrate"], served)).rejects.toThrow("Set DATABASE_OWNER_URL");
    await expect(
      runCommand(["migrate", "--create-logins"], { ...served, DATABASE_OWNER_URL: served["DATABASE_URL"]! }),
    ).rejects.toThrow("permission denied");
    const suffix = randomBytes(4).toString("hex");
    const logins = Object.fromEntries(
      Object.entries(test.env).map(([name, url]) => [
        name,
        Object.assign(new URL(url), {
          username: `${new URL(url).username}_${suffix}`,
          password: suffix,
        }).toString(),
      ]),
    );
    try {
      const made = JSON.parse(
        await runCommand(["migrate", "--create-logins", "--json"], { ...env, ...logins }),
      ) as { logins: string[] };
      expect(made.logins).toEqual([
        `holdfast_app_${suffix}`,
        `holdfast_system_${suffix}`,
        `holdfast_maintenance_${suffix}`,
      ]);
      const app = new pg.Client({ connectionString: logins["DATABASE_URL"]! });
      await app.connect();
      await app.query("alter role current_user set default_transaction_read_only = on");
      await app.query(
        `alter role current_user in database ${new URL(test.url).pathname.slice(1)} set statement_timeout = 1`,
      );
      await app.end();
      await runCommand(["migrate", "--create-logins"], { ...env, ...logins });
      const left = await test.db.owner.query(
        "select from pg_db_role_setting s join pg_roles r on r.oid = s.setrole where r.rolname = $1",
        [`holdfast_app_${suffix}`],
      );
      expect(left.rowCount).toBe(0);
      expect(await runCommand(["organization", "list"], { ...served, ...logins })).toContain("Acme");
      expect(await runCommand(["keys", "list"], { ...served, ...logins })).toContain("Acme");
    } finally {
      for (const name of ["app", "system", "maintenance"])
        await test.db.owner.query(`drop role if exists holdfast_${name}_${suffix}`);
    }
  });

  it("what needs the login of maintenance says so where it is not held", async () => {
    const { DATABASE_MAINTENANCE_URL: _, ...held } = env;
    expect(await runCommand(["organization", "list"], held)).toContain("Acme");
    const failed: unknown = await runCli(["keys", "list"], held).catch((error: unknown) => error);
    expect(String(failed)).toContain(
      "This needs the database login of maintenance: DATABASE_MAINTENANCE_URL is not set.",
    );
    expect(String(failed)).not.toContain("src/cli");
  });

  it("an empty database begins with the cut-over of payloads; one that an older version has used is told of it, and keeps the first moment", async () => {
    const cutOver = async (...options: string[]): Promise<string> =>
      JSON.parse(await runCommand(["seals", "cut-over", "--json", ...options], env)).at;
    const begun = await cutOver();
    expect(await cutOver("--unchecked")).toBe(begun);
    await test.db.owner.query("delete from cut_overs");
    await runCommand(["migrate"], env);
    await expect(runCommand(["seals", "cut-over"], { ...env, TEMPORAL_ADDRESS: "" })).rejects.toThrow(
      /TEMPORAL_ADDRESS[^]*--unchecked/,
    );
    expect((await test.db.owner.query("select from cut_overs")).rowCount).toBe(0);
    await runCommand(["migrate", "--alone"], env);
    expect((await cutOver()) > begun).toBe(true);
  });

  it("keys create narrows as told, list shows it without its text, revoke ends it", async () => {
    const made = JSON.parse(
      await runCommand(
        [
          "keys",
          "create",
          "--email",
          "vic@acme.example",
          "--name",
          "ci",
          "--spaces",
          "research",
          "--capabilities",
          "read,search",
          "--json",
        ],
        env,
      ),
    ) as { id: string; key: string };
    const principal = await whoIs(made.key);
    expect([
      principal.isScoped,
      [...principal.reach.values()].map((space) => space.role),
      [...principal.capabilities],
    ]).toEqual([true, ["viewer"], ["read", "search"]]);
    const listed = await runCommand(["keys", "list", "--email", "vic@acme.example"], env);
    expect(listed).toContain(made.id);
    expect(listed).not.toContain(made.key);
    await runCommand(["keys", "revoke", made.id], env);
    await expect(whoIs(made.key)).rejects.toThrow("Invalid API key");
    const { rows } = await test.db.owner.query(
      "select action, auth_method from audit_log where resource_id = $1 order by id",
      [made.id],
    );
    expect(rows).toEqual([
      { action: "api_keys:create", auth_method: "system" },
      { action: "api_keys:revoke", auth_method: "system" },
    ]);
  });

  it("keys create refuses a space that the owner has no role in", async () => {
    await expect(
      runCommand(["keys", "create", "--email", "vic@acme.example", "--name", "x", "--spaces", "Lab"], env),
    ).rejects.toThrow("no role in a space called Lab");
  });

  it.each([
    ["--addresses", ",,", "--addresses names nothing"],
    ["--spaces", "", "--spaces names nothing"],
    ["--capabilities", ",", "--capabilities names nothing"],
    ["--expires", "2001-01-01T00:00:00Z", "--expires 2001-01-01T00:00:00Z is past"],
  ])("keys create refuses %s=%s, with which a key could never be used", async (option, value, message) => {
    const failed: unknown = await runCommand(
      ["keys", "create", "--email", "vic@acme.example", "--name", "dead", `${option}=${value}`],
      env,
    ).catch((error: unknown) => error);
    expect(String(failed)).toContain(message);
    expect((await test.db.owner.query("select from api_keys where name = 'dead'")).rowCount).toBe(0);
  });

  it("audit anchor signs the heads of all chains, and audit verify --anchors ends with 1 where one of them is gone", async () => {
    const { rows } = await test.db.owner.query("select id from organizations limit 1");
    const id = rows[0].id as string;
    await chainAuditRows(
      test.db,
      await loadInstanceSecret(test.db, AUDIT_CHAIN_SECRET, localMasterKey(MASTER)),
      id,
      1_000,
    );
    const file = join(dataDir, "anchor.jws");
    expect(JSON.parse(await runCommand(["audit", "anchor", "--to", file, "--json"], env))).toEqual({
      anchor: file,
      organizations: 1,
    });
    await expect(runCommand(["audit", "anchor", "--to", file], env)).rejects.toThrow("is never written over");
    expect(await runCommand(["audit", "anchor"], env)).toMatch(/signed in anchors\/\d{4}\//);
    expect(
      JSON.parse(await runCommand(["audit", "verify", "--anchors", "store", "--json"], env)),
    ).toMatchObject({ ok: true, anchors: [{ intact: 1 }] });
    const { kid } = JSON.parse(await runCommand(["audit", "public-key"], env)) as { kid: string };
    expect(
      JSON.parse(Buffer.from((await readFile(file, "utf8")).split(".")[0]!, "base64url").toString()),
    ).toMatchObject({ alg: "EdDSA", kid });
    const nobody = ["audit", "verify", "--organization", randomUUID(), "--anchors", file];
    await expect(runCommand(nobody, env)).rejects.toThrow("no anchor names it");
    await expect(runCommand([...nobody, "--expect", `1:${"0".repeat(64)}`], env)).rejects.toThrow(
      "There is no organization",
    );
    await test.db.owner.query("update audit_chains set seq = 0");
    await expect(runCli(["audit", "verify", "--anchors", file], env)).rejects.toThrow("ended with 1");
  });

  it("token prints a JWT that stands for the user, and binds one that had no subject", async () => {
    expect(await whoIs((await runCommand(["token", "ada@acme.example"], env)).trim())).toMatchObject({
      authMethod: "jwt",
      user: { email: "ada@acme.example" },
    });
    const { access_token: token } = JSON.parse(
      await runCommand(["token", "vic@acme.example", "--json"], env),
    ) as { access_token: string };
    expect((await whoIs(token)).user.email).toBe("vic@acme.example");
    await expect(runCommand(["token", "nobody@acme.example"], env)).rejects.toThrow("There is no user");
  });
});

describe("the development issuer", () => {
  it("keeps its keys and its secret to its owner", async () => {
    for (const name of ["issuer-keys.json", "issuer.json"])
      expect((await stat(join(dataDir, name))).mode & 0o777).toBe(0o600);
  });

  it("gives no token without its secret, nor by any other grant", async () => {
    const { client, grant, secret } = JSON.parse(
      await readFile(join(dataDir, "issuer.json"), "utf8"),
    ) as Record<string, string>;
    const ask = (password: string, form: Record<string, string>) =>
      fetch(`${issuerUrl(issuerPort)}/token`, {
        method: "POST",
        headers: { authorization: `Basic ${btoa(`${client}:${password}`)}` },
        body: new URLSearchParams(form),
      });
    const user = { subject: "ada", email: "ada@acme.example" };
    expect((await ask("wrong", { grant_type: grant!, ...user })).status).toBe(401);
    expect((await ask(secret!, { grant_type: "client_credentials" })).status).toBe(400);
    expect((await ask(secret!, { grant_type: grant!, subject: "ada" })).status).toBe(400);
    expect((await ask(secret!, { grant_type: grant!, ...user })).status).toBe(200);
  });

  it("does not run in production", async () => {
    const port = await freePort();
    await expect(
      startIssuer({ env: { ...env, NODE_ENV: "production" }, dataDir, port }, () => undefined),
    ).rejects.toThrow("does not run in production");
  });

  it("keys create asks whom it means by an e-mail address that users of two organizations have", async () => {
    const file = join(dataDir, "rival.yaml");
    const users = [{ email: "Both@acme.example", role: "admin" }];
    await writeFile(
      file,
      JSON.stringify({ organizations: ["Rival", "Second"].map((name) => ({ name, users })) }),
    );
    await runCommand(["provision", file], env);
    const create = ["keys", "create", "--email", "both@acme.example", "--name", "which", "--json"];
    expect(String(await runCommand(create, env).catch((error: unknown) => error))).toMatch(
      /Users of Rival, Second have the e-mail address/,
    );
    expect(
      String(
        await runCommand([...create, "--organization", "Nowhere"], env).catch((error: unknown) => error),
      ),
    ).toMatch(/There is no user/);
    const { key } = JSON.parse(await runCommand([...create, "--organization", "rival"], env)) as {
      key: string;
    };
    expect((await whoIs(key)).organization.name).toBe("Rival");
  });
});
