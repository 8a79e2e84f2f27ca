/** Tests what an operator sees of running work, and the token of an operator. */
import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { decodeJwt } from "jose";
import { afterAll, beforeAll, expect, test } from "vitest";
import { freePort } from "../../../src/embedded/ports.ts";
import { startIssuer } from "../../../src/embedded/servers/issuer-part.ts";
import { createTestDatabase, type TestDatabase } from "../../support/servers/database.ts";
import { runCommand } from "../../support/stack/command.ts";

let database: TestDatabase;
let folder: string;
let env: Record<string, string>;
let organization: string;

beforeAll(async () => {
  [database, folder] = await Promise.all([createTestDatabase(), mkdtemp(join(tmpdir(), "holdfast-work-"))]);
  env = {
    ...database.env,
    MASTER_KEY: Buffer.alloc(32, 3).toString("base64"),
    DATA_DIR: folder,
    NODE_ENV: "test",
  };
  const made = JSON.parse(
    await runCommand(
      ["organization", "create", "--name", "Acme", "--admin-email", "ada@acme.example", "--json"],
      env,
    ),
  ) as { organization_id: string };
  organization = made.organization_id;
});
afterAll(async () => {
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});

const write = (query: string, values: unknown[]): Promise<unknown> => database.db.owner.query(query, values);

test("operations list and show print running work and its report, without wrapped keys", async () => {
  expect(await runCommand(["operations", "list"], env)).toBe("nothing is in progress\n");
  const [asked, waits, reencrypts, ended, deletion] = Array.from({ length: 5 }, () => randomUUID());
  const row =
    "insert into operations (id, kind, subject, requested_at, not_before, leased_until, completed_at, " +
    "parameters, report) values";
  await write(`${row} ($1, 'rotate_master', null, '2031-01-01T00:00:05Z', now(), null, null, '{}', '{}')`, [
    asked,
  ]);
  await write(
    `${row} ($1, 'delete_organization', $2, '2031-01-01T00:00:04Z', now() + interval '1 minute', null, ` +
      "null, '{}', '{}')",
    [waits, organization],
  );
  await write(
    `${row} ($1, 'reencrypt_organization', $2, '2031-01-01T00:00:03Z', now(), now(), null, '{}', $3)`,
    [
      reencrypts,
      organization,
      JSON.stringify({ files: 3, waits_for: { uploads: 0, kept_answers: 2, workflows: 1 } }),
    ],
  );
  await write(`${row} ($1, 'export_organization', $2, '2031-01-01T00:00:02Z', now(), now(), now(), $3, $4)`, [
    ended,
    organization,
    JSON.stringify({ wrapped_key: "c2VjcmV0" }),
    JSON.stringify({ failed: "no room" }),
  ]);
  await write(
    `insert into deletions (id, organization_id, kind, target_id, created_at)
     values ($1, $2, 'folder', $3, '2031-01-01T00:00:01Z')`,
    [deletion, organization, randomUUID()],
  );
  const listed = await runCommand(["operations", "list"], env);
  expect(
    listed
      .split("\n")
      .slice(1, 5)
      .map((line) => line.split(/ {2,}/)),
  ).toEqual([
    [asked, "rotate_master", "all", "asked for", "2031-01-01T00:00:05.000Z", "a worker"],
    [
      waits,
      "delete_organization",
      "Acme",
      "waits",
      "2031-01-01T00:00:04.000Z",
      expect.stringContaining("caches of other processes, until"),
    ],
    [
      reencrypts,
      "reencrypt_organization",
      "Acme",
      "under way",
      "2031-01-01T00:00:03.000Z",
      "workflows 1, kept_answers 2",
    ],
    [deletion, "delete_folder", "Acme", "asked for", "2031-01-01T00:00:01.000Z", "a worker"],
  ]);
  expect(listed).not.toContain(ended);
  const page = JSON.parse(
    await runCommand(["operations", "list", "--all", "--json", "--limit", "2", "--page", "2"], env),
  ) as {
    total: number;
    items: { id: string; state: string }[];
  };
  expect([page.total, page.items.map(({ id, state }) => [id, state])]).toEqual([
    5,
    [
      [reencrypts, "under way"],
      [ended, "failed"],
    ],
  ]);
  const shown = await runCommand(["operations", "show", ended!], env);
  expect(shown).toMatch(/kind +export_organization[^]*no room/);
  expect(shown + JSON.stringify(page)).not.toContain("c2VjcmV0");
  await expect(runCommand(["operations", "show", randomUUID()], env)).rejects.toThrow(
    "There is no operation, deletion or batch",
  );
  await expect(runCommand(["operations", "list", "--limit", "0"], env)).rejects.toThrow(
    "--limit must be a whole number from 1 to 1000.",
  );
});

test("token --role operators puts the role into the claim, and no other role is given", async () => {
  const issuer = await startIssuer({ env, dataDir: folder, port: await freePort() }, () => undefined);
  try {
    const token = (await runCommand(["token", "ada@acme.example", "--role", "operators"], env)).trim();
    const plain = (await runCommand(["token", "ada@acme.example"], env)).trim();
    expect([decodeJwt(token)["roles"], decodeJwt(plain)["roles"]]).toEqual([["operators"], undefined]);
    await expect(runCommand(["token", "ada@acme.example", "--role", "root"], env)).rejects.toThrow(
      "--role must be operators",
    );
  } finally {
    await issuer.stop();
  }
});
