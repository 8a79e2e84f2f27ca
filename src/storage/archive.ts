/** Keeps an exported organization in a folder: sealed parts, each named by its content, and a manifest. */
import {
  type KeyObject,
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createSecretKey,
} from "node:crypto";
import { access, mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import { DomainError } from "../domain/errors.ts";

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const MANIFEST = "manifest.json";
const MAX_PART_BYTES = 256 * 1024 * 1024;
const zip = promisify(gzip);
const unzip = promisify(gunzip);

export interface Archive {
  /** Keeps a part and returns its name. Idempotent: a part that exists is not written again. */
  put(bytes: Uint8Array): Promise<string>;
  /** @throws DomainError `corrupt` if it is missing, changed or of another key; `storage_unavailable`. */
  get(name: string): Promise<Buffer>;
  /** Writes the manifest, unencrypted and last: an archive with a manifest is complete. */
  writeManifest(manifest: object): Promise<void>;
}

/**
 * Opens a folder whose parts are sealed with AES-256-GCM. The nonce is an HMAC of the content, so that the
 * same content gives the same part. The folder is made with the first part.
 *
 * @param key 32 bytes.
 */
export function openArchive(folder: string, key: Uint8Array): Archive {
  const secret = createSecretKey(key);
  const pathOf = (name: string): string => join(folder, "parts", name.slice(0, 2), name);
  return {
    async put(bytes) {
      const sealed = seal(secret, await zip(bytes));
      const name = createHash("sha256").update(sealed).digest("hex");
      if (!(await exists(pathOf(name)))) await replaceFile(pathOf(name), sealed);
      return name;
    },
    async get(name) {
      const sealed = await readIfThere(pathOf(name));
      // A folder without its manifest is probably not mounted: the part may still exist.
      if (sealed === undefined && !(await exists(join(folder, MANIFEST))))
        throw new DomainError("storage_unavailable", `The archive's folder ${folder} does not exist.`);
      if (sealed === undefined || createHash("sha256").update(sealed).digest("hex") !== name)
        throw new DomainError("corrupt", `The archive's part ${name} is missing or was changed.`);
      return unzip(open(secret, sealed, name), { maxOutputLength: MAX_PART_BYTES });
    },
    writeManifest: (manifest) => replaceFile(join(folder, MANIFEST), JSON.stringify(manifest, null, 2)),
  };
}

/** @throws DomainError `not_found` without a complete archive; `storage_unavailable` if it is unreadable. */
export async function readManifest(folder: string): Promise<unknown> {
  const text = await readIfThere(join(folder, MANIFEST));
  if (text === undefined)
    throw new DomainError(
      "not_found",
      `There is no ${MANIFEST} in ${folder}: it is not an archive, or its export has not finished.`,
    );
  return JSON.parse(text.toString("utf8")) as unknown;
}

/** Undefined only if the file does not exist; any other failure, of a disk or a share, is an outage. */
async function readIfThere(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw new DomainError("storage_unavailable", "The archive cannot be read.", { cause: error });
  }
}

function seal(key: KeyObject, bytes: Uint8Array): Buffer {
  const nonce = createHmac("sha256", key).update(bytes).digest().subarray(0, NONCE_BYTES);
  const cipher = createCipheriv("aes-256-gcm", key, nonce, { authTagLength: TAG_BYTES });
  return Buffer.concat([nonce, cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
}

function open(key: KeyObject, sealed: Buffer, name: string): Buffer {
  try {
    const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(0, NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    }).setAuthTag(sealed.subarray(-TAG_BYTES));
    return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
  } catch (error) {
    throw new DomainError("corrupt", `The archive's part ${name} is encrypted with another key.`, {
      cause: error,
    });
  }
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/** Replaces a file atomically: readers see the old file or the whole new one. */
async function replaceFile(path: string, bytes: Uint8Array | string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${process.pid}.${Math.random().toString(36).slice(2)}`;
  await writeFile(draft, bytes, { mode: 0o600, flush: true });
  await rename(draft, path);
}
