import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { decodeJwt } from "jose";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePort } from "../../../src/embedded/ports.ts";
import { issuerUrl, startIssuer } from "../../../src/embedded/servers/issuer-part.ts";
import { runCommand } from "../../support/stack/command.ts";
import { type CommandLine, startCommandLine } from "../../support/stack/command-line.ts";

let line: CommandLine;
let env: Record<string, string>;

beforeAll(async () => {
  line = await startCommandLine();
  ({ env } = line);
});
afterAll(() => line.close());

describe("holdfast keys", () => {
  it("keys create makes a narrowed key, list hides its text, revoke ends it", async () => {
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
    const principal = await line.whoIs(made.key);
    expect([
      principal.isScoped,
      [...principal.reach.values()].map((space) => space.role),
      [...principal.capabilities],
    ]).toEqual([true, ["viewer"], ["read", "search"]]);
    const listed = await runCommand(["keys", "list", "--email", "vic@acme.example"], env);
    expect(listed).toContain(made.id);
    expect(listed).not.toContain(made.key);
    await runCommand(["keys", "revoke", made.id], env);
    await expect(line.whoIs(made.key)).rejects.toThrow("Invalid API key");
    const { rows } = await line.database.db.owner.query(
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
    ).rejects.toThrow("no role in a space named Lab");
  });

  it.each([
    ["--addresses", ",,", "--addresses is empty"],
    ["--spaces", "", "--spaces is empty"],
    ["--capabilities", ",", "--capabilities is empty"],
    ["--expires", "2001-01-01T00:00:00Z", "--expires 2001-01-01T00:00:00Z is in the past"],
  ])("keys create refuses %s=%s, with which a key could never be used", async (option, value, message) => {
    const failed: unknown = await runCommand(
      ["keys", "create", "--email", "vic@acme.example", "--name", "dead", `${option}=${value}`],
      env,
    ).catch((error: unknown) => error);
    expect(String(failed)).toContain(message);
    expect((await line.database.db.owner.query("select from api_keys where name = 'dead'")).rowCount).toBe(0);
  });

  it("keys create needs --organization if users of two organizations share the e-mail address", async () => {
    const file = join(line.dataDir, "rival.yaml");
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
    expect((await line.whoIs(key)).organization.name).toBe("Rival");
  });
});

describe("holdfast token", () => {
  it("token prints a JWT of the user, and binds a user who had no subject", async () => {
    expect(await line.whoIs((await runCommand(["token", "ada@acme.example"], env)).trim())).toMatchObject({
      authMethod: "jwt",
      user: { email: "ada@acme.example" },
    });
    const { access_token: token } = JSON.parse(
      await runCommand(["token", "vic@acme.example", "--json"], env),
    ) as { access_token: string };
    expect((await line.whoIs(token)).user.email).toBe("vic@acme.example");
    await expect(runCommand(["token", "nobody@acme.example"], env)).rejects.toThrow("There is no user");
    const ofMcp = (await runCommand(["token", "ada@acme.example", "--mcp"], env)).trim();
    expect(decodeJwt(ofMcp).aud).toBe("http://127.0.0.1:8080/mcp");
    await expect(line.whoIs(ofMcp)).rejects.toMatchObject({ code: "unauthenticated" });
  });
});

describe("the development issuer", () => {
  it("keeps its keys and its secret to its owner", async () => {
    for (const name of ["issuer-keys.json", "issuer.json"])
      expect((await stat(join(line.dataDir, name))).mode & 0o777).toBe(0o600);
  });

  it("gives no token without its secret, nor by any other grant", async () => {
    const { client, grant, secret } = JSON.parse(
      await readFile(join(line.dataDir, "issuer.json"), "utf8"),
    ) as Record<string, string>;
    const ask = (password: string, form: Record<string, string>) =>
      fetch(`${issuerUrl(line.issuerPort)}/token`, {
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
      startIssuer({ env: { ...env, NODE_ENV: "production" }, dataDir: line.dataDir, port }, () => undefined),
    ).rejects.toThrow("does not run in production");
  });
});
