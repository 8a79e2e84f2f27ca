/** Shows pages of files: from the cache, or made in a parser process. */
import { createHash, randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { DomainError } from "../../domain/errors.ts";
import type { Owner } from "../../domain/fair-queue.ts";
import type { FileType } from "../../domain/file-type.ts";
import type { PageSizes, PictureRequest } from "../../domain/locations/page-picture.ts";
import { versionNotKept } from "../../domain/not-found.ts";
import type { Principal } from "../../domain/tenancy/principal.ts";
import type { PagePool } from "../../parsers/process/page-pool.ts";
import { openTemporaryFolder } from "../../process/temporary-folder.ts";
import type { Keyring } from "../../storage/keys/keyring.ts";
import type { Storage } from "../../storage/storage.ts";
import { shownPages } from "../../telemetry/instruments.ts";
import { createPageCache, type PageCache } from "./page-cache.ts";
import { createPageSeats } from "./page-seats.ts";

/** A file that the caller may read. */
interface PageFile {
  readonly object_key: string;
  readonly file_type: FileType;
  readonly version: number;
}

/**
 * Both throw DomainError `version_not_kept` if the file is gone, `too_many_open`, and what a parser process
 * throws.
 */
export interface PageHost {
  /** The sizes of the pages from `first` to `last`, as far as there are such pages. */
  sizes(principal: Principal, file: PageFile, pages: readonly [number, number]): Promise<PageSizes>;
  /** Names a picture: equal if and only if the picture is the same. */
  nameOf(file: PageFile, request: PictureRequest): string;
  picture(principal: Principal, file: PageFile, request: PictureRequest): Promise<Buffer>;
  close(): Promise<void>;
}

interface PageHostParts {
  readonly storage: Storage;
  readonly keyring: Keyring;
  readonly dataDir: string;
}

/** What the making of a page needs; opened with the first page. */
interface Workshop {
  readonly folder: string;
  readonly pool: PagePool;
}

interface Host extends PageHostParts {
  readonly cache: PageCache;
  readonly takeSeat: (userId: string) => () => void;
  /** What is being made, by organization and name: whoever asks for the same waits for it. */
  readonly making: Map<string, Promise<Buffer>>;
  readonly workshop: () => Promise<Workshop>;
}

/** Starts no process before the first page. @see test/api/routes/documents/pages.stack.test.ts */
export function createPageHost(parts: PageHostParts): PageHost {
  let opened: Promise<Workshop> | undefined;
  const host: Host = {
    ...parts,
    cache: createPageCache(parts.keyring),
    takeSeat: createPageSeats(),
    making: new Map(),
    workshop() {
      opened ??= openWorkshop(parts.dataDir).catch((error: unknown) => {
        opened = undefined;
        throw error;
      });
      return opened;
    },
  };
  return {
    nameOf: pictureName,
    async sizes(principal, file, pages) {
      const name = nameOf(file, "sizes", ...pages);
      const bytes = await cached(host, principal, name, async (owner) => {
        const sizes = await withFile(host, principal, file, ({ pool, path }) =>
          pool.sizes({ fileType: file.file_type, path, pages }, owner),
        );
        return Buffer.from(JSON.stringify(sizes));
      });
      return JSON.parse(bytes.toString()) as PageSizes;
    },
    async picture(principal, file, request) {
      return cached(host, principal, pictureName(file, request), async (owner) =>
        Buffer.from(
          await withFile(host, principal, file, ({ pool, path }) =>
            pool.picture({ fileType: file.file_type, path }, request, owner),
          ),
        ),
      );
    },
    async close() {
      const workshop = await opened;
      await workshop?.pool.close();
      if (workshop !== undefined) await rm(workshop.folder, { recursive: true, force: true });
    },
  };
}

/** Loads the code of the sandbox too, which a process that shows no page does without. */
async function openWorkshop(dataDir: string): Promise<Workshop> {
  const { createPagePool } = await import("../../parsers/process/page-pool.ts");
  const folder = await openTemporaryFolder(dataDir);
  return { folder, pool: createPagePool({ folder }) };
}

/** Names are of the object, so that nothing is to be forgotten when a document gets another file. */
function nameOf(file: PageFile, ...parts: (string | number)[]): string {
  return createHash("sha256")
    .update([file.object_key, ...parts].join("\n"))
    .digest("base64url");
}

function pictureName(file: PageFile, { page, width, format, boxes }: PictureRequest): string {
  return nameOf(file, "picture", page, width, format, ...boxes.map((box) => box.join(" ")));
}

async function cached(
  host: Host,
  { organization, user }: Principal,
  name: string,
  make: (owner: Owner) => Promise<Buffer>,
): Promise<Buffer> {
  const found = await host.cache.get(organization.id, name);
  if (found !== undefined) return found;
  const key = `${organization.id} ${name}`;
  const begun = host.making.get(key);
  if (begun !== undefined) return begun;
  const giveBack = host.takeSeat(user.id);
  const made = measured(() => make({ organizationId: organization.id, userId: user.id }))
    .then(async (bytes) => {
      await host.cache.set(organization.id, name, bytes);
      return bytes;
    })
    .finally(() => {
      host.making.delete(key);
      giveBack();
    });
  host.making.set(key, made);
  return made;
}

async function measured<T>(work: () => Promise<T>): Promise<T> {
  const startedAt = performance.now();
  let outcome = "ok";
  try {
    return await work();
  } catch (error) {
    outcome = error instanceof DomainError ? error.code : "internal";
    throw error;
  } finally {
    shownPages.observe({ outcome }, (performance.now() - startedAt) / 1_000);
  }
}

/** The file, decrypted in the folder of this process, for as long as `use` takes. */
async function withFile<T>(
  { storage, workshop }: Host,
  { organization }: Principal,
  file: PageFile,
  use: (placed: { readonly pool: PagePool; readonly path: string }) => Promise<T>,
): Promise<T> {
  const { folder, pool } = await workshop();
  const stored = await storage
    .get({ organizationId: organization.id, name: file.object_key })
    .catch((error: unknown) => {
      if (error instanceof DomainError && error.code === "not_found") throw versionNotKept(file.version);
      throw error;
    });
  const path = join(folder, `${randomUUID()}.${file.file_type.toLowerCase()}`);
  try {
    await pipeline(stored, createWriteStream(path, { mode: 0o600 }));
    return await use({ pool, path });
  } finally {
    await rm(path, { force: true });
  }
}
