import { createHmac, generateKeyPairSync } from "node:crypto";
import { CompactSign } from "jose";
import { beforeEach, expect, it } from "vitest";
import type { OrganizationRef } from "../../src/db/pool.ts";
import { findReceiptKey } from "../../src/db/receipts/keys.ts";
import type { ReceiptClaims } from "../../src/domain/receipts/claims.ts";
import { createReceiptSigner } from "../../src/receipts/signer.ts";
import { openSignedReceipt, readReceipt } from "../../src/receipts/read-receipt.ts";
import { keyIdOf } from "../../src/receipts/signature.ts";
import { CHUNK_TEXT, statement } from "../support/receipts/statements.ts";
import { makeOrganization } from "../support/tenants/callers.ts";
import { commandDatabase } from "../support/tenants/commands.ts";
import { keyringOf } from "../support/tenants/webhooks.ts";

const test = commandDatabase();
let organization: OrganizationRef;
let receipt: string;
let salt: string;

beforeEach(async () => {
  organization = await makeOrganization(test.db);
  const signer = createReceiptSigner({ db: test.db, keyring: keyringOf(test.db) });
  [{ receipt, salt }] = (await signer.issue(organization.id, [statement()])) as [
    { receipt: string; salt: string },
  ];
});

const read = (text: string) => readReceipt(test, organization, text);
const json = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
const parts = () => receipt.split(".") as [string, string, string];
const payload = (): ReceiptClaims =>
  JSON.parse(Buffer.from(parts()[1], "base64url").toString()) as ReceiptClaims;

it("what was signed is read, with hashes that the salt and the texts make again", async () => {
  const claims = (await read(receipt))!;

  const hash = createHmac("sha256", Buffer.from(salt, "base64url")).update(CHUNK_TEXT).digest("base64url");
  expect(claims.chunk_hash).toBe(hash);
  expect(claims).toMatchObject({ quote_start: 0, start: 100, locations: [{ page: 4 }] });
  expect(Buffer.from(salt, "base64url")).toHaveLength(16);
});

it("a receipt that was changed, cut or signed by somebody else is none", async () => {
  const [head, body, signature] = parts();
  const kid = keyIdOf(receipt)!;
  const header = { alg: "EdDSA", kid, typ: "holdfast-receipt+jwt" };
  const { public_key: publicKey } = (await findReceiptKey(test.db, kid))!;
  const foreign = await new CompactSign(Buffer.from(body, "base64url"))
    .setProtectedHeader(header)
    .sign(generateKeyPairSync("ed25519").privateKey);
  const input = `${json({ ...header, alg: "HS256" })}.${body}`;
  const withPublicKey = createHmac("sha256", publicKey).update(input).digest("base64url");
  const forged = {
    "changed claims": [head, json({ ...payload(), document_version: 2 }), signature].join("."),
    "another header": [json({ ...header, b64: false }), body, signature].join("."),
    "no algorithm": `${json({ ...header, alg: "none" })}.${body}.`,
    "the public key as a secret": `${input}.${withPublicKey}`,
    "a key of its own": foreign,
    "a key that nobody has": [json({ ...header, kid: "A".repeat(22) }), body, signature].join("."),
    "no type": [json({ alg: "EdDSA", kid }), body, signature].join("."),
    "a cut signature": receipt.slice(0, -4),
    "no signature": `${head}.${body}.`,
    "two parts": `${head}.${body}`,
    "other text": "receipt",
    nothing: "",
    "a NUL in the key's id": [json({ ...header, kid: "\0" }), body, signature].join("."),
    "a key's id that is no text": [json({ ...header, kid: 7 }), body, signature].join("."),
    "a long text": `${receipt}${"A".repeat(10_000)}`,
  };

  const opened = await Promise.all(
    Object.entries(forged).map(async ([name, text]) => [name, await read(text)] as const),
  );
  expect(opened.filter(([, claims]) => claims !== undefined)).toEqual([]);
  expect(await read(receipt)).toBeDefined();
});

it("a receipt of another organization is none of this one, although its signature is right", async () => {
  const other = await makeOrganization(test.db);

  expect(await readReceipt(test, other, receipt)).toBeUndefined();
  expect((await openSignedReceipt(test, receipt))?.organizationId).toBe(organization.id);
});
