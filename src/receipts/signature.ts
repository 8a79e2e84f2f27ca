/**
 * Signs receipts and checks their signatures: compact JWS under Ed25519.
 * @see https://www.rfc-editor.org/rfc/rfc7515 (JWS)
 * @see https://www.rfc-editor.org/rfc/rfc8037 (Ed25519 in JWS)
 */
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
} from "node:crypto";
import { CompactSign, compactVerify, decodeProtectedHeader, errors } from "jose";
import {
  MAX_RECEIPT_CHARACTERS,
  RECEIPT_ALGORITHM,
  RECEIPT_TYPE,
  type ReceiptClaims,
} from "../domain/receipts/claims.ts";

const KID_BYTES = 16;
const KID = /^[\w-]{22}$/;
const UTF8 = new TextDecoder("utf-8", { fatal: true });

export interface SigningKey {
  readonly kid: string;
  readonly privateKey: KeyObject;
}

interface NewSigningKey extends SigningKey {
  /** 32 bytes. */
  readonly publicKey: Buffer;
  /** PKCS #8. */
  readonly privateBytes: Buffer;
}

/** A new key under a random id. */
export function createSigningKey(): NewSigningKey {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  return {
    kid: randomBytes(KID_BYTES).toString("base64url"),
    privateKey,
    publicKey: Buffer.from(publicKey.export({ format: "jwk" }).x!, "base64url"),
    privateBytes: privateKey.export({ format: "der", type: "pkcs8" }),
  };
}

/** @param privateBytes PKCS #8. */
export function signingKeyOf(kid: string, privateBytes: Buffer): SigningKey {
  return { kid, privateKey: createPrivateKey({ key: privateBytes, format: "der", type: "pkcs8" }) };
}

interface PublicJwk {
  readonly kty: "OKP";
  readonly crv: "Ed25519";
  readonly alg: typeof RECEIPT_ALGORITHM;
  readonly use: "sig";
  readonly kid: string;
  readonly x: string;
}

/** The public half as a JWK. @param publicKey the 32 bytes. */
export function publicJwk(kid: string, publicKey: Buffer): PublicJwk {
  return {
    kty: "OKP",
    crv: "Ed25519",
    alg: RECEIPT_ALGORITHM,
    use: "sig",
    kid,
    x: publicKey.toString("base64url"),
  };
}

export async function signClaims(key: SigningKey, claims: ReceiptClaims): Promise<string> {
  return new CompactSign(Buffer.from(JSON.stringify(claims)))
    .setProtectedHeader({ alg: RECEIPT_ALGORITHM, kid: key.kid, typ: RECEIPT_TYPE })
    .sign(key.privateKey);
}

/** The id of the key that a receipt names; undefined for what is no receipt. Nothing is checked yet. */
export function keyIdOf(receipt: string): string | undefined {
  if (receipt.length > MAX_RECEIPT_CHARACTERS) return undefined;
  try {
    const { alg, typ, kid } = decodeProtectedHeader(receipt);
    const isReceipt = alg === RECEIPT_ALGORITHM && typ === RECEIPT_TYPE;
    return isReceipt && typeof kid === "string" && KID.test(kid) ? kid : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Checks a receipt by a public key.
 * @param publicKey the 32 bytes.
 * @returns its claims; undefined if it was changed, was signed by another key, or is no receipt.
 */
export async function openReceipt(receipt: string, publicKey: Buffer): Promise<ReceiptClaims | undefined> {
  const kid = keyIdOf(receipt);
  if (kid === undefined) return undefined;
  const key = createPublicKey({ key: { ...publicJwk(kid, publicKey) }, format: "jwk" });
  try {
    const { payload } = await compactVerify(receipt, key, { algorithms: [RECEIPT_ALGORITHM] });
    return JSON.parse(UTF8.decode(payload)) as ReceiptClaims;
  } catch (error) {
    if (error instanceof errors.JOSEError) return undefined;
    throw error;
  }
}
