import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { claimsOf, newSalt } from "../../../src/receipts/claims.ts";
import { createSigningKey, publicJwk, signClaims } from "../../../src/receipts/signature.ts";
import { statement } from "../../support/receipts/statements.ts";
import { runCommand } from "../../support/stack/command.ts";

const key = createSigningKey();
const keySet = JSON.stringify({
  keys: [{ kty: "RSA", kid: "other", n: "AQAB", e: "AQAB" }, publicJwk(key.kid, key.publicKey)],
});
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "holdfast-receipt-"));
  return () => rm(folder, { recursive: true, force: true });
});
afterEach(() => {
  process.exitCode = undefined;
});

async function citation() {
  const cited = statement();
  const salt = newSalt();
  return { receipt: await signClaims(key, claimsOf(cited, salt, new Date())), quote: cited.quote, salt };
}

async function verify(given: unknown, jwks?: string) {
  const file = join(folder, "citation.json");
  await writeFile(file, typeof given === "string" ? given : JSON.stringify(given));
  await writeFile(join(folder, "keys.json"), keySet);
  process.exitCode = undefined;
  const printed = await runCommand(
    ["receipt", "verify", file, "--jwks", jwks ?? join(folder, "keys.json"), "--json"],
    {},
  );
  const { ok, receipts } = JSON.parse(printed) as {
    ok: boolean;
    receipts: { signature: string; quote: string }[];
  };
  expect(process.exitCode).toBe(ok ? undefined : 1);
  return receipts.map(({ signature, quote }) => `${signature}, ${quote}`);
}

it("checks signature and quote, of a citation, of a list, of a whole answer and of a receipt alone", async () => {
  const one = await citation();
  const answer = { choices: [{ message: { content: "…", citations: [one, { ...one, salt: undefined }] } }] };

  expect(await verify(one)).toEqual(["valid, same"]);
  expect(await verify([one, one])).toEqual(["valid, same", "valid, same"]);
  expect(await verify(answer)).toEqual(["valid, same", "valid, unchecked"]);
  expect(await verify(`${one.receipt}\n`)).toEqual(["valid, unchecked"]);
});

it("another quote, a changed receipt and a key that is not in the set do not hold", async () => {
  const one = await citation();
  const stranger = createSigningKey();
  const claims = claimsOf(statement(), one.salt, new Date());

  expect(await verify({ ...one, quote: "Something else." })).toEqual(["valid, other"]);
  expect(await verify({ ...one, salt: newSalt() })).toEqual(["valid, other"]);
  expect(await verify({ ...one, receipt: one.receipt.slice(0, -9) })).toEqual(["forged, unchecked"]);
  expect(await verify({ ...one, receipt: await signClaims({ ...stranger, kid: key.kid }, claims) })).toEqual([
    "forged, unchecked",
  ]);
  expect(await verify({ ...one, receipt: await signClaims(stranger, claims) })).toEqual([
    "unknown_key, unchecked",
  ]);
});

it("prints a line for each receipt, with the version and the page", async () => {
  const file = join(folder, "citation.json");
  await writeFile(file, JSON.stringify(await citation()));
  await writeFile(join(folder, "keys.json"), keySet);

  const printed = await runCommand(["receipt", "verify", file, "--jwks", join(folder, "keys.json")], {});

  expect(printed).toMatch(
    /^SIGNATURE +QUOTE +DOCUMENT +VERSION +PAGE +SIGNED AT\nvalid +same +\S+ +1 +4 +\S+Z\n$/,
  );
});

it("reads the key of a receipt from a URL, and says what to do if that asks for credentials", async () => {
  const server = createServer(({ url }, response) => {
    if (url === `/jwks/${key.kid}`) response.end(keySet);
    else response.writeHead(401).end();
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks`;
  try {
    expect(await verify(await citation(), `${base}/{kid}`)).toEqual(["valid, same"]);
    await expect(verify(await citation(), base)).rejects.toThrow("end the URL with /{kid}");
  } finally {
    server.close();
  }
});

it("says what cannot be read", async () => {
  await expect(verify({})).rejects.toThrow("contains no receipt");
  await expect(verify(await citation(), join(folder, "absent.json"))).rejects.toThrow("does not exist");
  await expect(verify(await citation(), join(folder, "citation.json"))).rejects.toThrow("is not a JWK set");
});
