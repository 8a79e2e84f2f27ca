import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createAuthenticator } from "../../src/auth/authenticate.ts";
import { createJwtVerifier } from "../../src/auth/jwt.ts";
import { loadInstanceSecret } from "../../src/db/instance-secrets.ts";
import { freePort } from "../../src/embedded/ports.ts";
import { issuerUrl, startIssuer } from "../../src/embedded/issuer-part.ts";
import type { Running } from "../../src/embedded/launch.ts";
import { localMasterKey } from "../../src/storage/keyring.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { runCli } from "../support/processes.ts";

const MASTER = Buffer.alloc(32, 3);
const TENANTS = JSON.stringify({
  organizations: [
    {
      name: "Acme",
      users: [{ email: "ada@acme.example", subject: "ada", role: "admin", api_keys: [{ name: "made" }] }, { email: "vic@acme.example" }],
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
  [test, dataDir, issuerPort] = await Promise.all([createTestDatabase(), mkdtemp(join(tmpdir(), "holdfast-cli-")), freePort()]);
  env = { DATABASE_URL: test.url, MASTER_KEY: MASTER.toString("base64"), DATA_DIR: dataDir, NODE_ENV: "test" };
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
const whoIs = async (token: string) => (await authenticator()).authenticate({ authorization: `Bearer ${token}`, organizationId: undefined });

describe("holdfast", () => {
  it("provision makes keys that authenticate, shows them once, and says what it did", async () => {
    const file = join(dataDir, "tenants.yaml");
    await writeFile(file, TENANTS);
    const first = JSON.parse(await runCli(["provision", file, "--json"], env)) as { keys: { key: string }[] };
    expect((await whoIs(first.keys[0]!.key)).user.email).toBe("ada@acme.example");
    expect(await runCli(["provision", file], env)).toBe("everything is as the file says\n");
  });

  it("drill hands its options on to the drill of the checkout", async () => {
    expect(await runCli(["drill", "--help"], env)).toMatch(/--rounds[\s\S]*--only/);
  });

  it("organization list names what there is", async () => {
    expect(JSON.parse(await runCli(["organization", "list", "--json"], env))).toMatchObject([{ name: "Acme" }]);
    expect(await runCli(["organization", "list"], env)).toContain("Acme");
  });

  it("provision ends with every mistake and no stack", async () => {
    const file = join(dataDir, "broken.yaml");
    await writeFile(file, "organizations: [{users: [{email: x}]}]");
    const failed: unknown = await runCli(["provision", file], env).catch((error: unknown) => error);
    expect(String(failed)).toMatch(/ended with 1[^]*organizations\[0\]\.name: is missing[^]*users\[0\]\.email: is not an e-mail address/);
    expect(String(failed)).not.toContain("src/cli");
  });

  it("migrate finds nothing to do on a database that is up to date", async () => {
    expect(JSON.parse(await runCli(["migrate", "--json"], env))).toEqual({ applied: [] });
  });

  it("an empty database begins with the cut-over of payloads; one that an older version has used is told of it, and keeps the first moment", async () => {
    const cutOver = async (...options: string[]): Promise<string> => JSON.parse(await runCli(["seals", "cut-over", "--json", ...options], env)).at;
    const begun = await cutOver();
    expect(await cutOver("--unchecked")).toBe(begun);
    await test.db.owner.query("delete from cut_overs");
    await runCli(["migrate"], env);
    await expect(runCli(["seals", "cut-over"], { ...env, TEMPORAL_ADDRESS: "" })).rejects.toThrow(/TEMPORAL_ADDRESS[^]*--unchecked/);
    expect((await test.db.owner.query("select from cut_overs")).rowCount).toBe(0);
    await runCli(["migrate", "--alone"], env);
    expect((await cutOver()) > begun).toBe(true);
  });

  it("keys create narrows as told, list shows it without its text, revoke ends it", async () => {
    const made = JSON.parse(
      await runCli(["keys", "create", "--email", "vic@acme.example", "--name", "ci", "--spaces", "research", "--capabilities", "read,search", "--json"], env),
    ) as { id: string; key: string };
    const principal = await whoIs(made.key);
    expect([principal.isScoped, [...principal.reach.values()].map((space) => space.role), [...principal.capabilities]]).toEqual([true, ["viewer"], ["read", "search"]]);
    const listed = await runCli(["keys", "list", "--email", "vic@acme.example"], env);
    expect(listed).toContain(made.id);
    expect(listed).not.toContain(made.key);
    await runCli(["keys", "revoke", made.id], env);
    await expect(whoIs(made.key)).rejects.toThrow("Invalid API key");
    const { rows } = await test.db.owner.query("select action, auth_method from audit_log where resource_id = $1 order by id", [made.id]);
    expect(rows).toEqual([
      { action: "api_keys:create", auth_method: "system" },
      { action: "api_keys:revoke", auth_method: "system" },
    ]);
  });

  it("keys create refuses a space that the owner has no role in", async () => {
    await expect(runCli(["keys", "create", "--email", "vic@acme.example", "--name", "x", "--spaces", "Lab"], env)).rejects.toThrow("no role in a space called Lab");
  });

  it("token prints a JWT that stands for the user, and binds one that had no subject", async () => {
    expect(await whoIs((await runCli(["token", "ada@acme.example"], env)).trim())).toMatchObject({ authMethod: "jwt", user: { email: "ada@acme.example" } });
    const { access_token: token } = JSON.parse(await runCli(["token", "vic@acme.example", "--json"], env)) as { access_token: string };
    expect((await whoIs(token)).user.email).toBe("vic@acme.example");
    await expect(runCli(["token", "nobody@acme.example"], env)).rejects.toThrow("There is no user");
  });
});

describe("the development issuer", () => {
  it("keeps its keys and its secret to its owner", async () => {
    for (const name of ["issuer-keys.json", "issuer.json"]) expect((await stat(join(dataDir, name))).mode & 0o777).toBe(0o600);
  });

  it("gives no token without its secret, nor by any other grant", async () => {
    const { client, grant, secret } = JSON.parse(await readFile(join(dataDir, "issuer.json"), "utf8")) as Record<string, string>;
    const ask = (password: string, form: Record<string, string>) =>
      fetch(`${issuerUrl(issuerPort)}/token`, { method: "POST", headers: { authorization: `Basic ${btoa(`${client}:${password}`)}` }, body: new URLSearchParams(form) });
    const user = { subject: "ada", email: "ada@acme.example" };
    expect((await ask("wrong", { grant_type: grant!, ...user })).status).toBe(401);
    expect((await ask(secret!, { grant_type: "client_credentials" })).status).toBe(400);
    expect((await ask(secret!, { grant_type: grant!, subject: "ada" })).status).toBe(400);
    expect((await ask(secret!, { grant_type: grant!, ...user })).status).toBe(200);
  });

  it("does not run in production", async () => {
    const port = await freePort();
    await expect(startIssuer({ env: { ...env, NODE_ENV: "production" }, dataDir, port }, () => undefined)).rejects.toThrow("does not run in production");
  });
});
