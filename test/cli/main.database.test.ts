import { randomBytes, randomUUID } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AUDIT_CHAIN_SECRET, chainAuditRows } from "../../src/db/audit/chain.ts";
import { loadInstanceSecret } from "../../src/db/instance/secrets.ts";
import { runCommand } from "../support/stack/command.ts";
import { ACME_FILE, type CommandLine, masterKey, startCommandLine } from "../support/stack/command-line.ts";
import { runCli } from "../support/stack/processes.ts";

let line: CommandLine;
let env: Record<string, string>;

beforeAll(async () => {
  line = await startCommandLine();
  ({ env } = line);
});
afterAll(() => line.close());

describe("holdfast", () => {
  it("provision makes keys that authenticate, and changes nothing the second time", async () => {
    expect((await line.whoIs(line.key)).user.email).toBe("ada@acme.example");
    const file = join(line.dataDir, "again.yaml");
    await writeFile(file, ACME_FILE);
    expect(await runCommand(["provision", file], env)).toBe("everything matches the file\n");
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

  it("provision lists every mistake, without a stack", async () => {
    const file = join(line.dataDir, "broken.yaml");
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

  it("migrate needs the owner's login and gives the others the passwords of their URLs", async () => {
    const { DATABASE_OWNER_URL: _, ...served } = env;
    await expect(runCommand(["migrate"], served)).rejects.toThrow("Set DATABASE_OWNER_URL");
    await expect(
      runCommand(["migrate", "--create-logins"], { ...served, DATABASE_OWNER_URL: served["DATABASE_URL"]! }),
    ).rejects.toThrow("permission denied");
    const suffix = randomBytes(4).toString("hex");
    const logins = Object.fromEntries(
      Object.entries(line.database.env).map(([name, url]) => [
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
      const name = new URL(line.database.url).pathname.slice(1);
      await app.query(`alter role current_user in database ${name} set statement_timeout = 1`);
      await app.end();
      await runCommand(["migrate", "--create-logins"], { ...env, ...logins });
      const left = await line.database.db.owner.query(
        `select
         from   pg_db_role_setting setting
         join   pg_roles role on role.oid = setting.setrole
         where  role.rolname = $1`,
        [`holdfast_app_${suffix}`],
      );
      expect(left.rowCount).toBe(0);
      expect(await runCommand(["organization", "list"], { ...served, ...logins })).toContain("Acme");
      expect(await runCommand(["keys", "list"], { ...served, ...logins })).toContain("Acme");
    } finally {
      for (const name of ["app", "system", "maintenance"])
        await line.database.db.owner.query(`drop role if exists holdfast_${name}_${suffix}`);
    }
  });

  it("a command that needs the maintenance login says so if the login is missing", async () => {
    const { DATABASE_MAINTENANCE_URL: _, ...held } = env;
    expect(await runCommand(["organization", "list"], held)).toContain("Acme");
    const failed: unknown = await runCli(["keys", "list"], held).catch((error: unknown) => error);
    expect(String(failed)).toContain(
      "This needs the database login of maintenance: DATABASE_MAINTENANCE_URL is not set.",
    );
    expect(String(failed)).not.toContain("src/cli");
  });

  it("audit verify --anchors ends with 1 if a head that audit anchor signed is gone", async () => {
    const { rows } = await line.database.db.owner.query("select id from organizations limit 1");
    const id = rows[0].id as string;
    await chainAuditRows(
      line.database.db,
      await loadInstanceSecret(line.database.db, AUDIT_CHAIN_SECRET, masterKey),
      id,
      1_000,
    );
    const file = join(line.dataDir, "anchor.jws");
    expect(JSON.parse(await runCommand(["audit", "anchor", "--to", file, "--json"], env))).toEqual({
      anchor: file,
      organizations: 1,
    });
    await expect(runCommand(["audit", "anchor", "--to", file], env)).rejects.toThrow("never overwritten");
    expect(await runCommand(["audit", "anchor"], env)).toMatch(/signed in anchors\/\d{4}\//);
    expect(
      JSON.parse(await runCommand(["audit", "verify", "--anchors", "store", "--json"], env)),
    ).toMatchObject({ ok: true, anchors: [{ intact: 1 }] });
    const { kid } = JSON.parse(await runCommand(["audit", "public-key"], env)) as { kid: string };
    expect(
      JSON.parse(Buffer.from((await readFile(file, "utf8")).split(".")[0]!, "base64url").toString()),
    ).toMatchObject({ alg: "EdDSA", kid });
    const nobody = ["audit", "verify", "--organization", randomUUID(), "--anchors", file];
    await expect(runCommand(nobody, env)).rejects.toThrow("no anchor mentions it");
    await expect(runCommand([...nobody, "--expect", `1:${"0".repeat(64)}`], env)).rejects.toThrow(
      "There is no organization",
    );
    await line.database.db.owner.query("update audit_chains set seq = 0");
    await expect(runCli(["audit", "verify", "--anchors", file], env)).rejects.toThrow("ended with 1");
  });
});
