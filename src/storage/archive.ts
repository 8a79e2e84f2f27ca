/** The only place that keeps an organization's data outside the service: sealed parts in a folder, each named by its content. */
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
const [zip, unzip] = [promisify(gzip), promisify(gunzip)];

export interface Archive {
  /** Keeps a part; one that is there already is not written again. @returns its name. */
  put(bytes: Uint8Array): Promise<string>;
  /** @throws DomainError `corrupt` where it is gone, was changed, or is sealed by another key; `storage_unavailable` where it cannot be read now. */
  get(name: string): Promise<Buffer>;
  /** Readable without the key; written last, so that an archive with one is whole. */
  writeManifest(manifest: object): Promise<void>;
}

/** AES-256-GCM under `key` (32 bytes), with a nonce made from the content, so that the same content is the same part. */
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
      // A folder without even its manifest is not mounted: what is missing in it is not gone.
      if (sealed === undefined && !(await exists(join(folder, MANIFEST))))
        throw new DomainError("storage_unavailable", `The archive's folder ${folder} is not there.`);
      if (sealed === undefined || createHash("sha256").update(sealed).digest("hex") !== name)
        throw new DomainError("corrupt", `The archive's part ${name} is missing or was changed.`);
      return unzip(open(secret, sealed, name), { maxOutputLength: MAX_PART_BYTES });
    },
    writeManifest: (manifest) => replaceFile(join(folder, MANIFEST), JSON.stringify(manifest, null, 2)),
  };
}

/** @throws DomainError `not_found` where the folder holds no whole archive; `storage_unavailable` where it cannot be read now. */
export async function readManifest(folder: string): Promise<unknown> {
  const text = await readIfThere(join(folder, MANIFEST));
  if (text === undefined)
    throw new DomainError(
      "not_found",
      `There is no ${MANIFEST} in ${folder}: no archive, or an export that has not ended.`,
    );
  return JSON.parse(text.toString("utf8")) as unknown;
}

/** Undefined only where nothing is there; a disk that fails or a share that hangs is an outage. */
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
    throw new DomainError("corrupt", `The archive's part ${name} is sealed by another key.`, {
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

/** Whole or not at all. */
async function replaceFile(path: string, bytes: Uint8Array | string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${process.pid}.${Math.random().toString(36).slice(2)}`;
  await writeFile(draft, bytes, { mode: 0o600, flush: true });
  await rename(draft, path);
}
