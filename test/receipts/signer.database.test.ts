import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { deleteKeysBefore, findCurrentKey, replaceOrganizationKey } from "../../src/db/encryption/keys.ts";
import type { OrganizationRef } from "../../src/db/pool.ts";
import { findReceiptKey, findSigningKey } from "../../src/db/receipts/keys.ts";
import { newId } from "../../src/domain/ids.ts";
import { createReceiptSigner } from "../../src/receipts/signer.ts";
import { keyIdOf, openReceipt } from "../../src/receipts/signature.ts";
import { localMasterKey, organizationKeyAad } from "../../src/storage/keys/keyring.ts";
import { statement } from "../support/receipts/statements.ts";
import { makeOrganization } from "../support/tenants/callers.ts";
import { commandDatabase } from "../support/tenants/commands.ts";
import { keyringOf } from "../support/tenants/webhooks.ts";

const test = commandDatabase();
let organization: OrganizationRef;

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

beforeEach(async () => {
  organization = await makeOrganization(test.db);
});

const newSigner = () => createReceiptSigner({ db: test.db, keyring: keyringOf(test.db) });

async function claimsOf(receipt: string) {
  const key = await findReceiptKey(test.db, keyIdOf(receipt)!);
  return key === undefined ? undefined : openReceipt(receipt, key.public_key);
}

it("processes that make the first key at the same time sign with one key", async () => {
  const issued = await Promise.all(
    Array.from({ length: 5 }, () => newSigner().issue(organization.id, [statement()])),
  );

  expect(new Set(issued.map(([made]) => keyIdOf(made!.receipt))).size).toBe(1);
  for (const [made] of issued) expect(await claimsOf(made!.receipt)).toMatchObject({ document_version: 1 });
});

it("needs no connection once the key is known", async () => {
  const signer = newSigner();
  await signer.issue(organization.id, [statement()]);
  const connections = vi.spyOn(test.db.app, "connect");

  await signer.issue(organization.id, [statement(), statement()]);

  expect(connections).not.toHaveBeenCalled();
});

it("signs with the key that it has while the database cannot be reached", async () => {
  const signer = newSigner();
  const [first] = await signer.issue(organization.id, [statement()]);
  const outage = Object.assign(new Error("refused"), { code: "ECONNREFUSED" });
  const connections = vi.spyOn(test.db.app, "connect").mockRejectedValue(outage as never);
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 120_000 });

  const [second] = await signer.issue(organization.id, [statement()]);

  expect(connections).toHaveBeenCalled();
  expect(keyIdOf(second!.receipt)).toBe(keyIdOf(first!.receipt));
});

it("makes a new key if the one that sealed it is gone, and receipts of before stay valid", async () => {
  const [before] = await newSigner().issue(organization.id, [statement()]);
  const master = localMasterKey(Buffer.alloc(32, 1));
  const id = newId();
  const wrapped = await master.wrap(Buffer.alloc(32, 2), organizationKeyAad(organization.id, id));
  await replaceOrganizationKey(test.db, organization.id, master.id, { id, wrapped });
  await deleteKeysBefore(test.db, organization.id, (await findCurrentKey(test.db, organization.id))!.id);

  const [after] = await newSigner().issue(organization.id, [statement()]);

  expect(keyIdOf(after!.receipt)).not.toBe(keyIdOf(before!.receipt));
  expect((await findSigningKey(test.db, organization.id))!.sealKeyId).toBe(id);
  expect(await claimsOf(before!.receipt)).toBeDefined();
  expect(await claimsOf(after!.receipt)).toBeDefined();
});

it("no receipt is valid after its organization was deleted", async () => {
  const [made] = await newSigner().issue(organization.id, [statement()]);

  await test.db.owner.query("update organizations set deleted_at = now() where id = $1", [organization.id]);

  expect(await claimsOf(made!.receipt)).toBeUndefined();
});
