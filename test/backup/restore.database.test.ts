/** Tests what a restore checks before it changes anything. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { expect, test } from "vitest";
import { newManifest, writeManifest } from "../../src/backup/manifest.ts";
import { connectionEnvironment } from "../../src/backup/postgres-tools.ts";
import { runCommand } from "../support/stack/command.ts";
import { createTestDatabase } from "../support/servers/database.ts";
import { until } from "../support/until.ts";

test("a restore is refused while another runs, whose command may have been killed", async () => {
  const [database, folder] = await Promise.all([
    createTestDatabase({ isEmpty: true }),
    mkdtemp(join(tmpdir(), "restore-")),
  ]);
  const part = { bytes: 0, sha256: "0".repeat(64) };
  const counts = { rows: {}, organizations: [] };
  const saved = { dump: part, server_version: 140_000, pg_dump: 14, migrations: [], ...counts };
  await writeManifest(
    folder,
    newManifest({
      made_at: new Date().toISOString(),
      database: saved,
      objects: { index: part, count: 0, bytes: 0 },
    }),
  );
  await writeFile(join(folder, "database.dump"), "");
  const env = { ...database.env, DATABASE_OWNER_URL: database.url, DATA_DIR: join(folder, "data") };
  const restore = (): Promise<string> =>
    runCommand(["backup", "restore", "--from", folder], env).catch(String);
  const other = new pg.Client({
    connectionString: database.url,
    application_name: connectionEnvironment(database.url)["PGAPPNAME"],
  });
  try {
    await other.connect();
    expect(await restore()).toContain(
      "A restore is at work in this database, perhaps of a command that was killed: wait until its " +
        "pg_restore has ended, or end it.",
    );
    await other.end();
    await until("the server has ended the other's session", async () =>
      (await restore()).includes("database.dump was changed: its size or hash does not match."),
    );
  } finally {
    await database.drop();
    await rm(folder, { recursive: true });
  }
});
