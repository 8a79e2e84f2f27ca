/** Shows pages of files: from the cache, or made in a parser process. */
import { createHash } from "node:crypto";
import { DomainError } from "../../domain/errors.ts";
import type { Owner } from "../../process/concurrency/fair-queue.ts";
import type { FileType } from "../../domain/file-type.ts";
import type { PageSizes, PictureRequest } from "../../domain/locations/page-picture.ts";
import { versionNotKept } from "../../domain/not-found.ts";
import type { Principal } from "../../domain/tenancy/principal.ts";
import type { LateInput } from "../../parsers/process/child-process.ts";
import type { PagePool } from "../../parsers/process/page-pool.ts";
import { openOnce } from "../../process/concurrency/open-once.ts";
import type { Keyring } from "../../storage/keys/keyring.ts";
import { shownPages } from "../../telemetry/instruments.ts";
import { type FetchParts, fetchFile } from "../files/fetched-file.ts";
import type { PageSeats } from "../files/file-seats.ts";
import { shareWork } from "../../process/concurrency/share-work.ts";
import { createPageCache, type PageCache } from "./page-cache.ts";

interface PageFile {
  readonly object_key: string;
  readonly file_type: FileType;
  /** Bytes. */
  readonly file_size: number;
  readonly version: number;
}

interface PageAsk {
  readonly principal: Principal;
  readonly file: PageFile;
  /** Aborted if the client goes away: when all that wait for a page have left, it is not made. */
  readonly signal: AbortSignal;
}

/**
 * Both throw DomainError `version_not_kept` if the file is gone, `too_many_open`, `storage_unavailable` if it
 * cannot be placed, what a parser process throws, and the signal's reason.
 */
export interface PageHost {
  /** The sizes of the pages from `first` to `last`, as far as there are such pages. */
  sizes(ask: PageAsk, pages: readonly [number, number]): Promise<PageSizes>;
  /** Names a picture: equal if and only if the picture is the same. */
  pictureName(file: PageFile, request: PictureRequest): string;
  picture(ask: PageAsk, request: PictureRequest): Promise<Buffer>;
  close(): Promise<void>;
}

interface PageHostParts extends FetchParts {
  readonly keyring: Keyring;
  readonly seats: PageSeats;
}

interface Host extends PageHostParts {
  readonly cache: PageCache;
  /** What is being made, by organization and name: whoever asks for the same waits for it. */
  readonly making: Map<string, ReturnType<typeof shareWork<Buffer>>>;
  /** Opened with the first page. */
  readonly pool: () => Promise<PagePool>;
}

/** What is made of a file when a process is free for it. */
type Make = (pool: PagePool, input: LateInput, asked: Asked) => Promise<Buffer>;

interface Asked {
  readonly owner: Owner;
  readonly signal: AbortSignal;
}

const SUBFOLDER = "pages";

/** A page that is being drawn when its client leaves: to start another process costs more than most pages. */
const LINGER_MS = 1_000;

/** Starts no process before the first page. @see test/api/files/files-and-pages.test.ts */
export function createPageHost(parts: PageHostParts): PageHost {
  const { open: pool, opened } = openOnce(() => openPool(parts));
  const host: Host = {
    ...parts,
    cache: createPageCache(parts.keyring),
    making: new Map(),
    pool,
  };
  return {
    pictureName,
    async sizes(ask, pages) {
      const name = cacheName(ask.file, "sizes", ...pages);
      const bytes = await cached(host, ask, name, async (pool, late, asked) =>
        Buffer.from(JSON.stringify(await pool.sizes(withPages(late, pages), asked))),
      );
      return JSON.parse(bytes.toString()) as PageSizes;
    },
    picture: (ask, request) =>
      cached(host, ask, pictureName(ask.file, request), async (pool, input, asked) =>
        Buffer.from(await pool.picture(input, request, asked)),
      ),
    async close() {
      await (await opened())?.close();
    },
  };
}

/** Loads the code of the sandbox too, which a process that shows no page does without. */
async function openPool({ temporary }: PageHostParts): Promise<PagePool> {
  const { createPagePool } = await import("../../parsers/process/page-pool.ts");
  return createPagePool({ folder: temporary.subfolder(SUBFOLDER) });
}

/** Names are of the object, so that nothing is to be forgotten when a document gets another file. */
function cacheName(file: PageFile, ...parts: (string | number)[]): string {
  return createHash("sha256")
    .update([file.object_key, ...parts].join("\n"))
    .digest("base64url");
}

function pictureName(file: PageFile, { page, width, format, boxes }: PictureRequest): string {
  return cacheName(file, "picture", page, width, format, ...boxes.map((box) => box.join(" ")));
}

async function cached(host: Host, ask: PageAsk, name: string, make: Make): Promise<Buffer> {
  const organizationId = ask.principal.organization.id;
  const found = await host.cache.get(organizationId, name);
  if (found !== undefined) return found;
  ask.signal.throwIfAborted();
  const key = `${organizationId} ${name}`;
  const begun = host.making.get(key);
  if (begun !== undefined && !begun.isGivenUp) return begun.join(ask.signal);
  const giveBack = host.seats.take(ask.principal, "page");
  let isDrawn = false;
  const making = shareWork({
    lingerMs: () => (isDrawn ? LINGER_MS : 0),
    work: async (signal) => {
      const bytes = await measured(signal, async () => {
        const late = lateFile(host, ask, signal, () => (isDrawn = true));
        return make(await host.pool(), late, { owner: ownerOf(ask.principal), signal });
      });
      await host.cache.set(organizationId, name, bytes);
      return bytes;
    },
  });
  host.making.set(key, making);
  void making.ended
    .catch(() => undefined)
    .finally(() => {
      if (host.making.get(key) === making) host.making.delete(key);
      giveBack();
    });
  return making.join(ask.signal);
}

const ownerOf = ({ organization, user }: Principal): Owner => ({
  organizationId: organization.id,
  userId: user.id,
});

async function measured<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  const startedAt = performance.now();
  let outcome = "ok";
  try {
    return await work();
  } catch (error) {
    if (signal.aborted) outcome = "aborted";
    else outcome = error instanceof DomainError ? error.code : "internal";
    throw error;
  } finally {
    shownPages.observe({ outcome }, (performance.now() - startedAt) / 1_000);
  }
}

/** @param onFetched called when a process has the file. */
function lateFile(
  parts: FetchParts,
  { principal, file }: PageAsk,
  signal: AbortSignal,
  onFetched: () => void,
): LateInput {
  return {
    size: file.file_size,
    async fetch() {
      const fetched = await fetchFile(parts, {
        organizationId: principal.organization.id,
        name: file.object_key,
        subfolder: SUBFOLDER,
        signal,
      }).catch((error: unknown) => {
        if (error instanceof DomainError && error.code === "not_found") throw versionNotKept(file.version);
        throw error;
      });
      onFetched();
      return {
        input: { fileType: file.file_type, path: fetched.path },
        [Symbol.asyncDispose]: () => fetched[Symbol.asyncDispose](),
      };
    },
  };
}

function withPages({ size, fetch }: LateInput, pages: readonly [number, number]): LateInput {
  return {
    size,
    async fetch() {
      const fetched = await fetch();
      return {
        input: { ...fetched.input, pages },
        [Symbol.asyncDispose]: () => fetched[Symbol.asyncDispose](),
      };
    },
  };
}
