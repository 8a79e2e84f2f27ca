/**
 * Signs anchors of the audit log and verifies them: each is a compact JWS under the instance's Ed25519 key.
 * @see https://www.rfc-editor.org/rfc/rfc7515 (JWS)
 * @see https://www.rfc-editor.org/rfc/rfc8037 (Ed25519 in JWS)
 */
import { type KeyObject, createPrivateKey, createPublicKey } from "node:crypto";
import { Readable } from "node:stream";
import { CompactSign, type JWK, calculateJwkThumbprint, compactVerify, errors } from "jose";
import { readChainHeads } from "../db/audit/anchors.ts";
import type { Database } from "../db/pool.ts";
import type { AnchorStatement } from "../domain/anchor.ts";
import type { ObjectStore } from "../storage/object-store.ts";

const ALGORITHM = "EdDSA";
/** The bytes that precede the 32 bytes of an Ed25519 private key in PKCS #8 (RFC 8410). */
const PKCS8_HEAD = Buffer.from("302e020100300506032b657004220420", "hex");

function privateKey(secret: Uint8Array): KeyObject {
  return createPrivateKey({ key: Buffer.concat([PKCS8_HEAD, secret]), format: "der", type: "pkcs8" });
}

/** The public half of the instance's key: a JWK whose `kid` is its thumbprint (RFC 7638). */
export async function anchorPublicKey(secret: Uint8Array): Promise<JWK> {
  const jwk = createPublicKey(privateKey(secret)).export({ format: "jwk" }) as JWK;
  return { ...jwk, kid: await calculateJwkThumbprint(jwk), alg: ALGORITHM, use: "sig" };
}

export interface Anchor {
  readonly jws: string;
  /** How many organizations have a chain. */
  readonly organizations: number;
}

/** Reads the heads of all chains and signs them. The header has the public key, to show whose it is. */
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

/** @throws DomainError `conflict` if there is one of that name: an anchor is never overwritten. */
export async function storeAnchor(store: Pick<ObjectStore, "put">, name: string, jws: string): Promise<void> {
  await store.put(name, Readable.from([Buffer.from(jws)]), { ifAbsent: true });
}

/**
 * Verifies an anchor with the instance's own key; the key in its header is not trusted.
 * @returns what was signed; null if it was changed, signed by another key, or is no JWS.
 */
export async function openAnchor(secret: Uint8Array, jws: string): Promise<Uint8Array | null> {
  try {
    return (await compactVerify(jws, createPublicKey(privateKey(secret)), { algorithms: [ALGORITHM] }))
      .payload;
  } catch (error) {
    if (error instanceof errors.JOSEError) return null;
    throw error;
  }
}
