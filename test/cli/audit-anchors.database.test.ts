import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compactVerify, importJWK } from "jose";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { anchorToday } from "../../src/activities/upkeep/anchor.ts";
import { anchorPublicKey, makeAnchor, signAnchor } from "../../src/auth/audit-anchor.ts";
import { checkAnchors } from "../../src/cli/audit-anchors.ts";
import { appendAudit } from "../../src/db/audit/append.ts";
import { chainAuditRows, deleteOldAuditRows } from "../../src/db/audit/chain.ts";
import { loadInstanceSecret } from "../../src/db/instance/secrets.ts";
import { type OrganizationRef, inTenant } from "../../src/db/pool.ts";
import { createDirectoryStore } from "../../src/storage/stores/directory.ts";
import { localMasterKey } from "../../src/storage/keys/keyring.ts";
import type { ObjectStore } from "../../src/storage/object-store.ts";
import { makeOrganization } from "../support/tenants/callers.ts";
import { type TestDatabase, createTestDatabase } from "../support/servers/database.ts";

const CHAIN_SECRET = Buffer.alloc(32, 3);
const ANCHOR_KEY = Buffer.alloc(32, 4);
const DAY_MS = 24 * 60 * 60_000;

let test: TestDatabase;
let folder: string;
let organization: OrganizationRef;
let store: ObjectStore;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "holdfast-anchors-"));
  store = createDirectoryStore(join(folder, "objects"));
  organization = await makeOrganization(test.db);
  return () => rm(folder, { recursive: true, force: true });
});

async function append(count: number): Promise<void> {
  const entry = {
    action: "documents:read",
    resource_type: "document",
    resource_id: null,
    space_id: null,
    request_id: null,
    outcome: "success" as const,
  };
  for (let at = 0; at < count; at += 1)
    await inTenant(test.db, organization, (sql) =>
      appendAudit(sql, { authMethod: "system", organization }, entry),
    );
  await chainAuditRows(test.db, CHAIN_SECRET, organization.id, 1_000);
}
const change = (sql: string) => test.db.owner.query(sql, [organization.id]);
const write = (name: string, jws: string) => writeFile(join(folder, name), jws);
async function anchor(name = "anchor.jws", now = new Date()): Promise<string> {
  const { jws } = await makeAnchor(test.db, ANCHOR_KEY, now);
  await write(name, jws);
  return jws;
}
async function check(where = folder) {
  const reports = [];
  for await (const report of checkAnchors(
    { db: test.db, secret: ANCHOR_KEY, store, organizationId: organization.id.toUpperCase() },
    where,
  ))
    reports.push(report);
  return reports;
}
const faultOf = async () =>
  (await check()).map(({ faults }) => faults.map(({ kind, seq }) => `${kind} at ${seq}`));

describe("a chain held against its anchor", () => {
  it("is intact while it grows", async () => {
    await append(3);
    await anchor();
    await append(2);
    expect(await check()).toEqual([
      {
        anchor: "anchor.jws",
        made_at: expect.any(String),
        problem: null,
        intact: 1,
        expired: 0,
        deleted_count: 0,
        deleted: [],
        fault_count: 0,
        faults: [],
      },
    ]);
  });

  it("that was made anew with the right secret is found, and so is one that was cut", async () => {
    await append(4);
    await anchor();
    await change(
      "update audit_log set chain_seq = null, chain_hash = null, action = 'x' where organization_id = $1",
    );
    await change("delete from audit_chains where organization_id = $1");
    await append(1);
    expect(await faultOf()).toEqual([["changed at 4"]]);
    await change("delete from audit_log where organization_id = $1 and chain_seq > 2");
    await change(
      `update audit_chains
       set    (seq, hash) = (
                select chain_seq, chain_hash
                from   audit_log
                where  organization_id = $1
                and    chain_seq = 2
              )
       where  organization_id = $1`,
    );
    expect(await faultOf()).toEqual([["cut at 4"]]);
    await change("delete from audit_chains where organization_id = $1");
    expect(await faultOf()).toEqual([["cut at 4"]]);
  });

  it("that lost its row in the middle, or rows before their time, is found", async () => {
    await append(3);
    await anchor();
    await append(2);
    await change("delete from audit_log where organization_id = $1 and chain_seq = 3");
    expect(await faultOf()).toEqual([["missing at 3"]]);
    await change(
      `update audit_chains
       set    (base_seq, base_hash) = (
                select chain_seq, chain_hash
                from   audit_log
                where  organization_id = $1
                and    chain_seq = 4
              )
       where  organization_id = $1`,
    );
    expect(await faultOf()).toEqual([["removed at 3"]]);
  });

  it("whose rows were deleted by retention is no fault; the oldest row left is compared", async () => {
    const age = () =>
      change("update audit_log set at = now() - interval '401 days' where organization_id = $1");
    await append(2);
    await age();
    await anchor("first.jws", new Date(Date.now() - 405 * DAY_MS));
    await append(1);
    await age();
    await anchor("second.jws");
    await deleteOldAuditRows(test.db, organization.id, 400, 100);
    expect(await check()).toMatchObject([
      { anchor: "first.jws", intact: 0, expired: 1, fault_count: 0 },
      { anchor: "second.jws", intact: 1, expired: 0, fault_count: 0 },
    ]);
  });

  it("whose whole log went with the base moved behind it, or whose oldest rows did, is found", async () => {
    await append(4);
    await anchor();
    const moveBaseTo = (seq: number) =>
      change(
        `update audit_chains
         set    (base_seq, base_hash) = (
                  select chain_seq, chain_hash
                  from   audit_log
                  where  organization_id = $1
                  and    chain_seq = ${seq}
                )
         where  organization_id = $1`,
      );
    await moveBaseTo(1);
    await change("delete from audit_log where organization_id = $1 and chain_seq = 1");
    expect(await faultOf()).toEqual([["removed at 4"]]);
    await moveBaseTo(4);
    await change("delete from audit_log where organization_id = $1");
    expect(await faultOf()).toEqual([["removed at 4"]]);
  });

  it("of a closed organization is compared until its deletion, and named as deleted afterwards", async () => {
    await append(2);
    await anchor();
    await change("update organizations set deleted_at = now() where id = $1");
    expect(await check()).toMatchObject([{ intact: 1, deleted_count: 0 }]);
    await change("delete from audit_log where organization_id = $1 and chain_seq = 2");
    expect(await faultOf()).toEqual([["missing at 2"]]);
    await change("delete from audit_chains where organization_id = $1");
    expect(await check()).toMatchObject([{ deleted: [organization.id], fault_count: 0 }]);
  });
});

describe("an anchor", () => {
  it("that was changed, or signed by another key, is told apart from a fault of a chain", async () => {
    await append(1);
    const jws = await anchor("1-good.jws");
    const [head, payload, signature] = jws.split(".") as [string, string, string];
    const changed = Buffer.from(
      Buffer.from(payload, "base64url")
        .toString()
        .replace(/"seq":\d+/, '"seq":9'),
    ).toString("base64url");
    await write("2-changed.jws", [head, changed, signature].join("."));
    await write("3-foreign.jws", (await makeAnchor(test.db, Buffer.alloc(32, 9), new Date())).jws);
    await write(
      "4-unsigned.jws",
      [Buffer.from('{"alg":"none"}').toString("base64url"), payload, ""].join("."),
    );
    await write("5-unknown.jws", await signAnchor(ANCHOR_KEY, Buffer.from('{"type":"something else"}')));
    await write("6-nothing.jws", "");
    await mkdir(join(folder, "7-folder.jws"));
    expect((await check()).map(({ problem }) => problem)).toEqual([
      null,
      "forged",
      "forged",
      "forged",
      "unreadable",
      "forged",
    ]);
  });

  it("is verified by any JOSE library with the public key, without the database", async () => {
    await append(1);
    const jwk = await anchorPublicKey(ANCHOR_KEY);
    expect(jwk).toMatchObject({ kty: "OKP", crv: "Ed25519", kid: expect.any(String) });
    expect(jwk).not.toHaveProperty("d");
    const { payload, protectedHeader } = await compactVerify(await anchor(), await importJWK(jwk, "EdDSA"));
    expect(protectedHeader.kid).toBe(jwk.kid);
    expect(JSON.parse(Buffer.from(payload).toString())).toMatchObject({
      heads: expect.arrayContaining([
        expect.objectContaining({ organization_id: organization.id, seq: 1, base_seq: 0 }),
      ]),
    });
  });

  it("that is nowhere is no success", async () => {
    await expect(check()).rejects.toThrow("No anchor found");
    await expect(check("store")).rejects.toThrow("No anchor found");
    await expect(check(join(folder, "nothing"))).rejects.toThrow("does not exist");
  });

  it("is written to the object store once a day, and belongs to no organization there", async () => {
    await append(1);
    const master = localMasterKey(Buffer.alloc(32, 5));
    const deps = { db: test.db, store, masterKey: master };
    const now = new Date();
    const written = await Promise.all([anchorToday(deps, now), anchorToday(deps, now)]);
    expect(written.toSorted()).toEqual([0, 1]);
    expect(await anchorToday(deps, now)).toBe(0);
    expect(await anchorToday(deps, new Date(now.getTime() + DAY_MS))).toBe(1);
    const days = [now, new Date(now.getTime() + DAY_MS)].map((day) => day.toISOString().slice(0, 10));
    const names = days.map((day) => `anchors/${day.slice(0, 4)}/${day}.jws`);
    expect((await store.list("", { limit: 10 })).map(({ name }) => name)).toEqual(names);
    expect(await store.list(organization.id, { limit: 10 })).toEqual([]);
    const reports = [];
    const secret = await loadInstanceSecret(test.db, "audit-anchor", master);
    for await (const report of checkAnchors(
      { db: test.db, secret, store, organizationId: organization.id },
      "store",
    ))
      reports.push(report);
    expect(reports).toMatchObject(names.map((name) => ({ anchor: name, intact: 1, fault_count: 0 })));
  });
});
