/** The object store over Google Cloud Storage. */
import { IdempotencyStrategy, Storage } from "@google-cloud/storage";
import type { Bucket, File } from "@google-cloud/storage";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { DomainError } from "../../domain/errors.ts";
import { listByPages } from "./list-pages.ts";
import {
  assertStoredName,
  assertPrefix,
  storageError,
  unavailable,
  untilAborted,
  within,
} from "../object-store.ts";
import type { ListedObject, ListOptions, ObjectStore, PutOptions } from "../object-store.ts";
import { type Download, download } from "./resumed-download.ts";

const REQUEST_TIMEOUT_MS = 30_000;
/** Milliseconds for an operation with all its retries; after this the store counts as down. */
const OPERATION_TIMEOUT_MS = 60_000;
const MAX_RETRIES = 3;
const MAX_RETRY_DELAY_S = 8;
/** Bytes that an upload keeps in memory to send them again; a multiple of 256 KiB. */
const UPLOAD_CHUNK_BYTES = 4 * 1024 * 1024;
/** A download that gets no byte for this long is cut, and continued where it stopped. */
const STALL_MS = 30_000;

export interface GcsSettings {
  readonly bucket: string;
  /** Origin of an emulator, with or without `/storage/v1`; no credentials are sent there. */
  readonly emulatorHost?: string | undefined;
  /** Milliseconds without a byte after which a download goes on over a new connection. Default 30,000. */
  readonly stallMs?: number | undefined;
}

/**
 * Objects of one bucket. Credentials are Google's application default credentials.
 *
 * @example `test/storage/stores/gcs.process.test.ts`
 */
export function createGcsStore({
  bucket: bucketName,
  emulatorHost,
  stallMs = STALL_MS,
}: GcsSettings): ObjectStore {
  const storage = connect(emulatorHost);
  const bucket = storage.bucket(bucketName);
  const fileOf = (name: string): File => bucket.file(assertStoredName(name));
  const sourceOf = (name: string): Download => {
    const place = { storage, file: fileOf(name), credentials: emulatorHost === undefined };
    return {
      open: (range, signal) => openBody(place, range, signal),
      size: async () => (await metadataOf(place.file)).size,
      stallMs,
    };
  };
  return {
    put: (name, body, options = {}) => upload(fileOf(name), body, options),
    get: async (name, options = {}) => download(sourceOf(name), options),
    size: async (name) => Number((await metadataOf(fileOf(name))).size),
    delete: async (name) => {
      await within(OPERATION_TIMEOUT_MS, fileOf(name).delete({ ignoreNotFound: true }));
    },
    list: (prefix, options) => listObjects(bucket, assertPrefix(prefix), options),
    // The bucket itself removes uploads that were not finished.
    removeUnfinished: () => Promise.resolve(0),
  };
}

function connect(emulatorHost: string | undefined): Storage {
  const origin = emulatorHost?.replace(/\/+$/, "").replace(/\/storage\/v1$/, "");
  const storage = new Storage({
    ...(origin === undefined ? {} : { apiEndpoint: origin, projectId: "emulator" }),
    timeout: REQUEST_TIMEOUT_MS,
    retryOptions: {
      autoRetry: true,
      maxRetries: MAX_RETRIES,
      retryDelayMultiplier: 1.5,
      maxRetryDelay: MAX_RETRY_DELAY_S,
      totalTimeout: OPERATION_TIMEOUT_MS / 1000,
      // Safe, since every write has a precondition, and a name is deleted once and never used again.
      idempotencyStrategy: IdempotencyStrategy.RetryAlways,
    },
  });
  // The client uses STORAGE_EMULATOR_HOST unchanged, so that a host without a path would lack the API's path.
  if (origin !== undefined) storage.baseUrl = `${origin}/storage/v1`;
  return storage;
}

/** The object that a download reads. */
interface Place {
  readonly storage: Storage;
  readonly file: File;
  readonly credentials: boolean;
}

async function metadataOf(file: File): Promise<{ size: number; generation: string }> {
  const [{ size, generation }] = await within(OPERATION_TIMEOUT_MS, file.getMetadata());
  return { size: Number(size), generation: String(generation) };
}

/** The generation that a write replaces: with it a retried write never replaces a later one. */
async function generationOf(file: File): Promise<string | number> {
  try {
    return (await metadataOf(file)).generation;
  } catch (error) {
    if (hasCode(error, "not_found")) return 0;
    throw error;
  }
}

async function upload(
  file: File,
  body: AsyncIterable<Uint8Array>,
  { signal, ifAbsent = false }: PutOptions,
): Promise<{ bytes: number }> {
  signal?.throwIfAborted();
  const ifGenerationMatch = ifAbsent ? 0 : await generationOf(file);
  let bytes = 0;
  let bodyError: unknown;
  const sink = file.createWriteStream({
    resumable: true,
    validation: "crc32c",
    chunkSize: UPLOAD_CHUNK_BYTES,
    timeout: REQUEST_TIMEOUT_MS,
    metadata: { contentType: "application/octet-stream" },
    preconditionOpts: { ifGenerationMatch },
  });
  async function* measured(): AsyncGenerator<Uint8Array> {
    try {
      for await (const piece of untilAborted(body, signal)) {
        bytes += piece.byteLength;
        yield piece;
      }
    } catch (error) {
      // If the sink failed first, this is its own error, which stops the body.
      if (sink.errored === null) bodyError = error;
      throw error;
    }
  }
  try {
    await pipeline(Readable.from(measured(), { objectMode: false }), sink);
  } catch (error) {
    signal?.throwIfAborted();
    if (bodyError !== undefined) throw bodyError;
    throw writeError(error);
  }
  return { bytes };
}

/** In a write `not_found` means the bucket or the upload session, which is an outage. */
function writeError(error: unknown): unknown {
  const mapped = storageError(error);
  return hasCode(mapped, "not_found") ? unavailable(error) : mapped;
}

/**
 * The object's bytes by `fetch`, with the client's credentials. The client's own read stream, if it is
 * destroyed before its answer comes, rejects a promise that nobody can catch, which ends the process.
 */
async function openBody(
  { storage, file, credentials }: Place,
  range: string | undefined,
  signal: AbortSignal,
): Promise<AsyncIterator<Uint8Array>> {
  const object = `b/${encodeURIComponent(file.bucket.name)}/o/${encodeURIComponent(file.name)}`;
  const url = `${storage.baseUrl}/${object}?alt=media`;
  const headers = new Headers(credentials ? await storage.authClient.getRequestHeaders(url) : {});
  headers.set("accept-encoding", "identity");
  if (range !== undefined) headers.set("range", range);
  const answer = await fetch(url, { headers, signal });
  if (!answer.ok || answer.body === null) {
    await answer.body?.cancel();
    throw storageError({ code: answer.status, message: `Answer ${answer.status}.` });
  }
  if (range !== undefined && answer.status !== 206)
    throw unavailable(new Error("The range was not honoured."));
  return answer.body[Symbol.asyncIterator]();
}

function hasCode(error: unknown, code: DomainError["code"]): boolean {
  return error instanceof DomainError && error.code === code;
}

async function listObjects(bucket: Bucket, prefix: string, options: ListOptions): Promise<ListedObject[]> {
  return listByPages(prefix, options, async (pageToken, maxResults) => {
    const query = {
      prefix,
      autoPaginate: false,
      maxResults,
      ...(options.after === undefined ? {} : { startOffset: options.after }),
      ...(pageToken === undefined ? {} : { pageToken }),
    };
    const [files, following] = await within(OPERATION_TIMEOUT_MS, bucket.getFiles(query));
    const objects = files.map(({ name, metadata }) => ({ name, updatedAt: new Date(metadata.updated ?? 0) }));
    return { objects, next: (following as { readonly pageToken?: string } | null | undefined)?.pageToken };
  });
}
