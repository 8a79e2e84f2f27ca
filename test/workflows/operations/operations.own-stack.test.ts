/**
 * Operators' tasks on the real stack: keys are rotated while reads go on, and an organization is deleted with
 * everything that it has.
 */
import { randomBytes } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, describe, expect, test } from "vitest";
import { localMasterKey } from "../../../src/storage/keys/keyring.ts";
import { keyIdOf } from "../../../src/receipts/signature.ts";
import { call, ended, upload } from "../../support/clients/client.ts";
import { citationOf } from "../../support/receipts/cited.ts";
import { runCli } from "../../support/stack/processes.ts";
import { documentClient } from "../../support/clients/document-client.ts";
import { onOwnStack } from "../../support/stack/own-stack.ts";
import { until } from "../../support/until.ts";

const NEXT = randomBytes(32);
const TEXT = "# Kept\n\nIt is read all the while.";

const { stack, tenants } = onOwnStack({ env: { MASTER_KEY_PREVIOUS: NEXT.toString("base64") } });
const { rows } = documentClient({ stack, tenants });
beforeAll(async () => {
  // The API knows the next master key before anything is wrapped by it.
}, 180_000);

const read = async (path: string) =>
  (
    await call(
      stack.url,
      tenants.keys.owner,
      "GET",
      `/spaces/${tenants.spaces.research}/data/download?path=${encodeURIComponent(path)}`,
    )
  ).body as string;

/** Runs `work` and reads the file repeatedly meanwhile. */
async function whileReading<T>(path: string, work: () => Promise<T>): Promise<T> {
  let isOver = false;
  const seen: string[] = [];
  const reading = (async () => {
    while (!isOver) {
      seen.push(await read(path));
      await sleep(50);
    }
  })();
  try {
    return await work();
  } finally {
    isOver = true;
    await reading;
    expect(seen.length).toBeGreaterThan(0);
    expect(new Set(seen)).toEqual(new Set([TEXT]));
  }
}

async function put(name: string): Promise<string> {
  const document = await upload(stack.url, tenants.keys.owner, tenants.spaces.research, TEXT, name);
  expect((await ended(stack.url, tenants.keys.owner, document.id)).processing_state.pipeline_status).toBe(
    "completed",
  );
  return `documents/${document.id}/original/${name}`;
}

/** A receipt of a file of {@link put}. */
const cite = (path: string, masterKey = stack.env["MASTER_KEY"]!) =>
  citationOf(
    { url: stack.url, database: stack.database, env: { MASTER_KEY: masterKey } },
    {
      organizationId: tenants.acme,
      key: tenants.keys.owner,
      documentId: path.split("/")[1]!,
      quote: "It is read all the while.",
    },
  );
const verify = async (citation: object) =>
  (await call(stack.url, tenants.keys.owner, "POST", "/receipts/verify", citation)).body.status as string;

describe("keys are rotated while reads go on", () => {
  test("an organization's: new objects have the new key, old ones stay readable", async () => {
    const old = await put("old.md");
    const citation = await cite(old);
    const report = await whileReading(old, async () =>
      JSON.parse(await runCli(["keys", "rotate-organization", tenants.acme], stack.env)),
    );
    const keys = await rows(
      "select id, is_current from organization_keys where organization_id = $1 order by created_at",
      [tenants.acme],
    );
    expect(keys.map(({ is_current: isCurrent }) => isCurrent)).toEqual([false, true]);
    expect(report).toMatchObject({
      kind: "rotate_organization",
      report: { organization_id: tenants.acme, key_id: keys[1].id },
    });
    const fresh = await put("new.md");
    expect([await read(old), await read(fresh)]).toEqual([TEXT, TEXT]);
    const later = await cite(fresh);
    expect(keyIdOf(later.receipt)).not.toBe(keyIdOf(citation.receipt));
    expect([await verify(citation), await verify(later)]).toEqual(["same", "same"]);
  });

  test("the master key: everything is rewrapped, and the old key is no longer needed", async () => {
    const path = await put("before.md");
    const citation = await cite(path);
    const pair = { MASTER_KEY: NEXT.toString("base64"), MASTER_KEY_PREVIOUS: stack.env["MASTER_KEY"]! };
    await stack.worker.kill("SIGTERM");
    stack.restartWorker(pair);
    const { report } = await whileReading(path, async () =>
      JSON.parse(await runCli(["keys", "rotate-master"], { ...stack.env, ...pair })),
    );
    expect(report.organization_keys).toBeGreaterThanOrEqual(2);
    expect(report.instance_secrets).toBeGreaterThanOrEqual(3);
    const wrappers = await rows(
      "select master_key_id from organization_keys union select master_key_id from instance_secrets",
    );
    expect(wrappers).toEqual([{ master_key_id: localMasterKey(NEXT).id }]);
    await stack.api.kill("SIGTERM");
    await stack.restartApi({ MASTER_KEY: pair.MASTER_KEY, MASTER_KEY_PREVIOUS: "" });
    expect(await read(path)).toBe(TEXT);
    const later = await cite(await put("after.md"), pair.MASTER_KEY);
    expect(keyIdOf(later.receipt)).toBe(keyIdOf(citation.receipt));
    expect([await verify(citation), await verify(later)]).toEqual(["same", "same"]);
  }, 120_000);
});

describe("an organization that is deleted", () => {
  const objectsOf = async (id: string) =>
    (await readdir(join(stack.dataDir, "objects", id), { recursive: true }).catch(() => [])).filter((name) =>
      name.includes("/"),
    ).length;

  test("is asked for twice", async () => {
    await expect(runCli(["organization", "delete", tenants.rival], stack.env)).rejects.toThrow("--yes");
    expect(
      (await rows("select deleted_at from organizations where id = $1", [tenants.rival]))[0].deleted_at,
    ).toBeNull();
  });

  test("leaves nothing in any store, and a report that says so; others notice nothing", async () => {
    const kept = await put("kept.md");
    const document = await upload(
      stack.url,
      tenants.keys.rival,
      tenants.spaces.rival,
      "# Secret\n\nOf the rival.",
      "secret.md",
    );
    await ended(stack.url, tenants.keys.rival, document.id);
    const citation = await citationOf(
      { url: stack.url, database: stack.database, env: { MASTER_KEY: NEXT.toString("base64") } },
      {
        organizationId: tenants.rival,
        key: tenants.keys.rival,
        documentId: document.id,
        quote: "Of the rival.",
      },
    );
    const path = `/receipts/jwks/${keyIdOf(citation.receipt)}`;
    expect(await verify(citation)).toBe("not_reachable");
    expect((await call(stack.url, null, "GET", path)).body.keys).toHaveLength(1);
    const before = await objectsOf(tenants.rival);
    expect(before).toBeGreaterThan(0);
    const { report } = JSON.parse(
      await runCli(["organization", "delete", tenants.rival, "--yes", "--grace", "1"], {
        ...stack.env,
        MASTER_KEY: NEXT.toString("base64"),
      }),
    );
    expect(report).toMatchObject({
      organization_id: tenants.rival,
      read_back: { rows: 0, objects: 0, running_workflows: 0 },
      objects_deleted: before,
      keys_deleted: 1,
    });
    expect(report.rows_deleted).toMatchObject({
      documents: 1,
      raw_files: 1,
      users: 1,
      chunks: expect.any(Number),
      audit_log: expect.any(Number),
    });
    expect(report.lives_on.join(" ")).toMatch(/write-ahead log and backups/);
    expect(await objectsOf(tenants.rival)).toBe(0);
    expect(await rows("select from organizations where id = $1", [tenants.rival])).toEqual([]);
    await until(
      "its key is refused",
      async () => (await call(stack.url, tenants.keys.rival, "GET", "/models")).status === 401,
      10_000,
    );
    expect(await read(kept)).toBe(TEXT);
    expect(await verify(citation)).toBe("invalid");
    expect((await call(stack.url, null, "GET", path)).body.keys).toEqual([]);
  }, 120_000);
});
