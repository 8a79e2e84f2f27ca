/** Signs anchors of the audit log, and opens them again: a compact JWS (RFC 7515) under the instance's Ed25519 key (RFC 8037). */
import { type KeyObject, createPrivateKey, createPublicKey } from "node:crypto";
import { Readable } from "node:stream";
import { CompactSign, type JWK, calculateJwkThumbprint, compactVerify, errors } from "jose";
import { readChainHeads } from "../db/audit/anchors.ts";
import type { Database } from "../db/pool.ts";
import type { AnchorStatement } from "../domain/anchor.ts";
import type { ObjectStore } from "../storage/object-store.ts";

const ALGORITHM = "EdDSA";
/** What stands before the 32 bytes of an Ed25519 private key in PKCS #8 (RFC 8410). */
const PKCS8_HEAD = Buffer.from("302e020100300506032b657004220420", "hex");

function privateKey(secret: Uint8Array): KeyObject {
  return createPrivateKey({ key: Buffer.concat([PKCS8_HEAD, secret]), format: "der", type: "pkcs8" });
}

/** The public half of the instance's key, as a JWK whose `kid` is its thumbprint (RFC 7638). Any library that verifies JWS takes it. */
export async function anchorPublicKey(secret: Uint8Array): Promise<JWK> {
  const jwk = createPublicKey(privateKey(secret)).export({ format: "jwk" }) as JWK;
  return { ...jwk, kid: await calculateJwkThumbprint(jwk), alg: ALGORITHM, use: "sig" };
}

export interface Anchor {
  readonly jws: string;
  /** How many organizations have a chain. */
  readonly organizations: number;
}

/** Reads the heads of all chains and signs them. The public key stands in the header, so that a reader can see whose it is. */
export async function makeAnchor(db: Database, secret: Uint8Array, now: Date): Promise<Anchor> {
  const heads = await readChainHeads(db);
  const statement: AnchorStatement = {
    type: "holdfast-audit-anchor",
    version: 1,
    made_at: now.toISOString(),
    heads,
  };
  return {
    jws: await signAnchor(secret, Buffer.from(JSON.stringify(statement))),
    organizations: heads.length,
  };
}

export async function signAnchor(secret: Uint8Array, statement: Uint8Array): Promise<string> {
  const { kid, ...jwk } = await anchorPublicKey(secret);
  return new CompactSign(statement)
    .setProtectedHeader({ alg: ALGORITHM, kid: kid!, jwk })
    .sign(privateKey(secret));
}

/** @throws DomainError `conflict` where there is one of that name: an anchor is never written over. */
export async function storeAnchor(store: Pick<ObjectStore, "put">, name: string, jws: string): Promise<void> {
  await store.put(name, Readable.from([Buffer.from(jws)]), { ifAbsent: true });
}

/** @returns what was signed; null where it was changed, signed by another key, or is no JWS. The key in its header is not believed. */
export async function openAnchor(secret: Uint8Array, jws: string): Promise<Uint8Array | null> {
  try {
    return (await compactVerify(jws, createPublicKey(privateKey(secret)), { algorithms: [ALGORITHM] }))
      .payload;
  } catch (error) {
    if (error instanceof errors.JOSEError) return null;
    throw error;
  }
}
