/**
 * A master key that never leaves Google Cloud Key Management Service.
 *
 * @see https://cloud.google.com/kms/docs/reference/rest/v1/projects.locations.keyRings.cryptoKeys
 */
import { CRC32C } from "@google-cloud/storage";
import { GoogleAuth } from "google-auth-library";
import { DomainError } from "../../domain/errors.ts";
import type { MasterKey } from "../../domain/tenancy/wrapped-keys.ts";
import { storageError } from "../object-store.ts";

const ORIGIN = "https://cloudkms.googleapis.com";
const SCOPE = "https://www.googleapis.com/auth/cloudkms";
const REQUEST_TIMEOUT_MS = 10_000;
const RETRIES = 3;

export interface CloudKmsSettings {
  /** `projects/…/locations/…/keyRings/…/cryptoKeys/…`, a symmetric key. Any version of it is unwrapped. */
  readonly keyName: string;
  /** Origin of an emulator; no credentials are sent there. */
  readonly emulatorHost?: string | undefined;
}

type Verb = "encrypt" | "decrypt";

/**
 * Wraps with the service's key; bytes have a CRC32C in both directions. Credentials are Google's application
 * default credentials. A request that fails with 408, 429 or 5xx is tried again three times.
 *
 * `wrap` and `unwrap` throw `corrupt` for what the key did not wrap, and `storage_unavailable` if the service
 * is down or does not let the key be used.
 *
 * @example `test/storage/keys/cloud-kms.own-stack.test.ts`
 */
export function cloudKmsMasterKey({ keyName, emulatorHost }: CloudKmsSettings): MasterKey {
  const id = `kms:${keyName}`;
  const call = caller(`${emulatorHost ?? ORIGIN}/v1/${keyName}`, emulatorHost === undefined);
  return {
    id,
    opens: (other) => other === id,
    wrap: async (bytes, aad) =>
      (await call("encrypt", { plaintext: bytes, additionalAuthenticatedData: aad })).checked("ciphertext"),
    unwrap: async (wrapped, aad) =>
      (await call("decrypt", { ciphertext: wrapped, additionalAuthenticatedData: aad })).checked("plaintext"),
  };
}

interface Answer {
  /** A field of the answer. @throws DomainError `storage_unavailable` if its checksum does not match. */
  checked(field: "ciphertext" | "plaintext"): Buffer;
}

function caller(
  url: string,
  sendsCredentials: boolean,
): (verb: Verb, fields: Record<string, Uint8Array>) => Promise<Answer> {
  const auth = new GoogleAuth({ scopes: [SCOPE] });
  return async (verb, fields) => {
    const data = JSON.stringify(
      Object.fromEntries(Object.entries(fields).flatMap(([name, bytes]) => withChecksum(name, bytes))),
    );
    const headers = {
      "content-type": "application/json",
      ...(sendsCredentials ? await credentials(auth, url) : {}),
    };
    return answerOf(await post(`${url}:${verb}`, headers, data));
  };
}

async function credentials(auth: GoogleAuth, url: string): Promise<Record<string, string>> {
  try {
    return Object.fromEntries(await auth.getRequestHeaders(url));
  } catch (error) {
    throw unreachable(error);
  }
}

async function post(
  url: string,
  headers: Record<string, string>,
  body: string,
): Promise<Record<string, string>> {
  for (let retries = 0; ; retries += 1) {
    const response = await fetch(url, {
      method: "POST",
      headers,
      body,
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    }).catch((error: unknown) => {
      throw storageError(error) instanceof DomainError ? unreachable(error) : error;
    });
    if (response.ok) return (await response.json()) as Record<string, string>;
    await response.body?.cancel();
    // The service answers so if this key did not make the ciphertext, or not with these additional data.
    if (response.status === 400)
      throw new DomainError("corrupt", "A wrapped key failed its integrity check.");
    if (retries === RETRIES || ![408, 429, 500, 502, 503, 504].includes(response.status))
      throw unreachable(new Error(`The key service answered ${response.status}.`));
    await new Promise((resume) => setTimeout(resume, 100 * 2 ** retries));
  }
}

function withChecksum(name: string, bytes: Uint8Array): [string, string][] {
  return [
    [name, Buffer.from(bytes).toString("base64")],
    [`${name}Crc32c`, String(crc32c(bytes))],
  ];
}

/** CRC32C as an unsigned number, as the service writes it. */
function crc32c(bytes: Uint8Array): number {
  const checksum = new CRC32C();
  checksum.update(Buffer.from(bytes));
  return checksum.valueOf() >>> 0;
}

function answerOf(fields: Record<string, string>): Answer {
  return {
    checked(field) {
      const bytes = Buffer.from(fields[field] ?? "", "base64");
      if (fields[`${field}Crc32c`] !== String(crc32c(bytes)))
        throw unreachable(new Error("The key service's response was corrupted in transit."));
      return bytes;
    },
  };
}

function unreachable(cause: unknown): DomainError {
  return new DomainError("storage_unavailable", "The key management service is not available.", {
    retryAfterSeconds: 5,
    cause,
  });
}
