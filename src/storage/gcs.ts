/** The only object store over Google Cloud Storage, and the only user of its client. */
import { IdempotencyStrategy, Storage } from "@google-cloud/storage";
import type { Bucket, File } from "@google-cloud/storage";
import { finished, pipeline } from "node:stream/promises";
import { Readable } from "node:stream";
import { DomainError } from "../domain/errors.ts";
import { assertObjectName, assertPrefix, storageError, streamOf, unavailable, untilAborted, within } from "./object-store.ts";
import type { GetOptions, ListedObject, ListOptions, ObjectStore, PutOptions } from "./object-store.ts";

const REQUEST_TIMEOUT_MS = 30_000;
/** With all its retries: after this the caller is told that the store is down and may come back later. */
const OPERATION_TIMEOUT_MS = 60_000;
const MAX_RETRIES = 4;
const MAX_RETRY_DELAY_S = 8;
/** What one upload keeps in memory to send again; a multiple of 256 KiB. */
const UPLOAD_CHUNK_BYTES = 4 * 1024 * 1024;
/** A download that gave nothing for so long is cut and taken up again where it stopped. */
const STALL_MS = 30_000;
const MAX_RESUMES = 4;

interface GcsSettings {
  readonly bucket: string;
  /** Origin of an emulator, with or without `/storage/v1`; no credentials are sent there. */
  readonly emulatorHost?: string | undefined;
  /** Milliseconds without a byte after which a download is taken up again; 30,000 where absent. */
  readonly stallMs?: number | undefined;
}

/** Objects of one bucket. Credentials are Google's application default credentials. */
export function createGcsStore({ bucket: bucketName, emulatorHost, stallMs = STALL_MS }: GcsSettings): ObjectStore {
  const bucket = connect(emulatorHost).bucket(bucketName);
  const fileOf = (name: string): File => bucket.file(assertObjectName(name));
  return {
    put: (name, body, options = {}) => upload(fileOf(name), body, options),
    get: (name, options = {}) => download(fileOf(name), options, stallMs),
    size: async (name) => Number((await metadataOf(fileOf(name))).size),
    delete: async (name) => {
      await within(OPERATION_TIMEOUT_MS, fileOf(name).delete({ ignoreNotFound: true }));
    },
    list: (prefix, options) => listPage(bucket, assertPrefix(prefix), options),
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
      maxRetryDelay: MAX_RETRY_DELAY_S,
      totalTimeout: OPERATION_TIMEOUT_MS / 1000,
      // Safe, since every write carries a precondition and a name is deleted once and never used again.
      idempotencyStrategy: IdempotencyStrategy.RetryAlways,
    },
  });
  // The client takes STORAGE_EMULATOR_HOST as it stands for this, so that a bare host would lack the API's path.
  if (origin !== undefined) storage.baseUrl = `${origin}/storage/v1`;
  return storage;
}

async function metadataOf(file: File): Promise<{ size: number; generation: string }> {
  const [{ size, generation }] = await within(OPERATION_TIMEOUT_MS, file.getMetadata());
  return { size: Number(size), generation: String(generation) };
}

/** The generation that the write replaces: with it as a precondition, a retried write can never replace a later one. */
async function generationOf(file: File): Promise<string | number> {
  try {
    return (await metadataOf(file)).generation;
  } catch (error) {
    if (error instanceof DomainError && error.code === "not_found") return 0;
    throw error;
  }
}

async function upload(file: File, body: AsyncIterable<Uint8Array>, { signal, ifAbsent = false }: PutOptions): Promise<{ bytes: number }> {
  signal?.throwIfAborted();
  const ifGenerationMatch = ifAbsent ? 0 : await generationOf(file);
  let bytes = 0;
  let bodyError: unknown;
  async function* measured(): AsyncGenerator<Uint8Array> {
    try {
      for await (const piece of untilAborted(body, signal)) {
        bytes += piece.byteLength;
        yield piece;
      }
    } catch (error) {
      bodyError = error;
      throw error;
    }
  }
  const sink = file.createWriteStream({
    resumable: true,
    validation: "crc32c",
    chunkSize: UPLOAD_CHUNK_BYTES,
    timeout: REQUEST_TIMEOUT_MS,
    metadata: { contentType: "application/octet-stream" },
    preconditionOpts: { ifGenerationMatch },
  });
  try {
    await pipeline(Readable.from(measured(), { objectMode: false }), sink);
  } catch (error) {
    signal?.throwIfAborted();
    if (bodyError !== undefined) throw bodyError;
    throw writeError(error);
  }
  return { bytes };
}

/** A bucket that does not exist, or an upload session that is gone, is no missing object. */
function writeError(error: unknown): unknown {
  const mapped = storageError(error);
  return mapped instanceof DomainError && mapped.code === "not_found" ? unavailable(error) : mapped;
}

async function download(file: File, { start = 0, end, signal }: GetOptions, stallMs: number): Promise<Readable> {
  signal?.throwIfAborted();
  if (end !== undefined && end <= start) {
    const { size } = await metadataOf(file);
    if (start > 0 && start >= size) throw storageError(Object.assign(new Error("Empty range."), { code: 416 }));
    return Readable.from([], { objectMode: false });
  }
  const source = createSource(file, { start, end, stallMs });
  const first = await source.next();
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for (let step = first; step.done !== true; step = await source.next()) yield step.value;
  }
  return streamOf(pieces(), { signal, close: source.close });
}

interface SourceOptions {
  readonly start: number;
  readonly end: number | undefined;
  readonly stallMs: number;
}

interface Source {
  next(): Promise<IteratorResult<Buffer, undefined>>;
  close(): Promise<void>;
}

/**
 * A download that goes on from the byte where its connection was cut or fell silent. Its checksum is not compared, since
 * that covers whole objects only: every segment that is read through storage.ts is authenticated instead.
 */
function createSource(file: File, { start, end, stallMs }: SourceOptions): Source {
  let position = start;
  let resumes = 0;
  let stream: Readable | undefined;
  let iterator: AsyncIterator<Buffer> | undefined;

  function open(): AsyncIterator<Buffer> {
    const whole = position === 0 && end === undefined;
    const range = whole ? {} : { start: position, ...(end === undefined ? {} : { end: end - 1 }) };
    stream = file.createReadStream({ validation: false, decompress: false, ...range });
    stream.on("error", () => {});
    return stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  }

  async function next(): Promise<IteratorResult<Buffer, undefined>> {
    for (;;) {
      iterator ??= open();
      try {
        const step = await within(stallMs, iterator.next());
        if (step.done === true) return { done: true, value: undefined };
        position += step.value.byteLength;
        resumes = 0;
        return { done: false, value: step.value };
      } catch (error) {
        stream?.destroy();
        iterator = undefined;
        if (isComplete(error)) return { done: true, value: undefined };
        if (!mayResume(error)) throw error;
      }
    }
  }

  /** Cut exactly at the object's end: the range that is asked for next starts behind it. */
  function isComplete(error: unknown): boolean {
    return error instanceof DomainError && error.code === "range_not_satisfiable" && position > start;
  }

  function mayResume(error: unknown): boolean {
    resumes += 1;
    return error instanceof DomainError && error.code === "storage_unavailable" && resumes <= MAX_RESUMES && position > start;
  }

  return {
    next,
    close: async () => {
      stream?.destroy();
      if (stream !== undefined) await finished(stream).catch(() => {});
    },
  };
}

async function listPage(bucket: Bucket, prefix: string, { after, limit }: ListOptions): Promise<ListedObject[]> {
  // startOffset includes its own name: one more is asked for and that one left out.
  const query = { prefix, autoPaginate: false, maxResults: limit + 1, ...(after === undefined ? {} : { startOffset: after }) };
  const [files] = await within(OPERATION_TIMEOUT_MS, bucket.getFiles(query));
  return files
    .filter(({ name }) => after === undefined || name > after)
    .slice(0, limit)
    .map(({ name, metadata }) => ({ name, updatedAt: new Date(metadata.updated ?? 0) }));
}
