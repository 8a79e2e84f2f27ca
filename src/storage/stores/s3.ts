/** The object store over S3 and what speaks it, such as MinIO, Ceph and R2. */
import type { Readable } from "node:stream";
import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
} from "@aws-sdk/client-s3";
import { DomainError } from "../../domain/errors.ts";
import { listByPages } from "./list-pages.ts";
import {
  UnfitStoreError,
  assertPrefix,
  assertStoredName,
  isStoredName,
  unavailable,
} from "../object-store.ts";
import type { ListedObject, ListOptions, ObjectStore } from "../object-store.ts";
import { type OpenBody, download } from "./resumed-download.ts";
import { type S3Settings, answerOf, connect } from "./s3-client.ts";
import { probe } from "./s3-probe.ts";
import { type Bucket, upload } from "./s3-upload.ts";

const STALL_MS = 30_000;
const LISTED_AT_ONCE = 1_000;
/** What a sweep looks at: the next one goes on, since it begins with what is left. */
const SWEPT_PAGES = 10;

/** Objects of one bucket. Nothing is written before the store has shown that it keeps its promises. */
export function createS3Store(settings: S3Settings): ObjectStore {
  const { send, sendOnce } = connect(settings);
  const bucket: Bucket = { send, name: settings.bucket };
  const { stallMs = STALL_MS } = settings;
  let proof: Promise<void> | undefined;
  const prove = (): Promise<void> =>
    (proof ??= probe(bucket).catch((error: unknown) => {
      proof = undefined;
      throw error;
    }));
  return {
    prove,
    async put(name, body, options = {}) {
      assertStoredName(name);
      await prove().catch((error: unknown) => {
        throw error instanceof UnfitStoreError ? unavailable(error) : error;
      });
      return upload(bucket, name, body, options);
    },
    get: async (name, options = {}) =>
      download(
        {
          open: openObject({ ...bucket, send: sendOnce }, assertStoredName(name)),
          size: () => sizeOf(bucket, name),
          stallMs,
        },
        options,
      ),
    size: async (name) => sizeOf(bucket, assertStoredName(name)),
    delete: async (name) => deleteObject(bucket, assertStoredName(name)),
    list: async (prefix, options) => listObjects(bucket, assertPrefix(prefix), options),
    removeUnfinished: (olderThanMs) => sweep(bucket, new Date(Date.now() - olderThanMs)),
  };
}

/** An object without a body says 404 also where the whole bucket is away, and that is an outage. */
async function sizeOf({ send, name: Bucket }: Bucket, Key: string): Promise<number> {
  try {
    const { ContentLength } = await send((client, abortSignal) =>
      client.send(new HeadObjectCommand({ Bucket, Key }), { abortSignal }),
    );
    if (ContentLength === undefined) throw unavailable(new Error("The store names no length."));
    return ContentLength;
  } catch (error) {
    if (!isMissing(error)) throw error;
    await send((client, abortSignal) =>
      client.send(new HeadBucketCommand({ Bucket }), { abortSignal }),
    ).catch((other: unknown) => {
      throw isMissing(other) ? unavailable(other) : other;
    });
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof DomainError && error.code === "not_found";
}

/** What goes on after a cut is the same object, or it is refused. */
function openObject({ send, name: Bucket }: Bucket, Key: string): OpenBody {
  let IfMatch: string | undefined;
  return async (range, signal) => {
    const get = new GetObjectCommand({ Bucket, Key, IfMatch, Range: range });
    const { Body, ETag, ContentRange } = await send(
      (client, abortSignal) => client.send(get, { abortSignal }),
      signal,
    ).catch((error: unknown) => {
      throw error instanceof DomainError && error.code === "conflict" ? unavailable(error) : error;
    });
    const body = Body as Readable | undefined;
    if (body === undefined) throw unavailable(new Error("The store sent no body."));
    body.on("error", () => {});
    signal.addEventListener("abort", () => body.destroy(), { once: true });
    if (range !== undefined && ContentRange === undefined) {
      body.destroy();
      throw unavailable(new Error("The range was not honoured."));
    }
    IfMatch = ETag;
    return body[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  };
}

async function deleteObject({ send, name: Bucket }: Bucket, Key: string): Promise<void> {
  try {
    await send((client, abortSignal) =>
      client.send(new DeleteObjectCommand({ Bucket, Key }), { abortSignal }),
    );
  } catch (error) {
    // AWS never says so, some of its kin do.
    if (!isMissing(error)) throw error;
  }
}

async function listObjects(
  { send, name: Bucket }: Bucket,
  prefix: string,
  options: ListOptions,
): Promise<ListedObject[]> {
  return listByPages(prefix, options, async (ContinuationToken, MaxKeys) => {
    const page = new ListObjectsV2Command({
      Bucket,
      Prefix: prefix,
      StartAfter: options.after,
      MaxKeys,
      ContinuationToken,
    });
    const {
      Contents = [],
      IsTruncated,
      NextContinuationToken,
    } = await send((client, abortSignal) => client.send(page, { abortSignal }));
    // Every store says whether there is more: what does not is no list, e.g. a proxy's page, and would read as an empty bucket.
    if (IsTruncated === undefined || (IsTruncated && NextContinuationToken === undefined))
      throw unavailable(new Error("The store's answer is no list."));
    const objects = Contents.flatMap(({ Key, LastModified }) =>
      Key === undefined ? [] : [{ name: Key, updatedAt: LastModified ?? new Date(0) }],
    );
    return { objects, next: NextContinuationToken };
  });
}

/** Ends uploads in parts that began before `before`, and nobody else's than Holdfast's. */
async function sweep({ send, name: Bucket }: Bucket, before: Date): Promise<number> {
  let removed = 0;
  let marker: { KeyMarker?: string | undefined; UploadIdMarker?: string | undefined } = {};
  for (let page = 0; page < SWEPT_PAGES; page += 1) {
    const list = new ListMultipartUploadsCommand({ Bucket, MaxUploads: LISTED_AT_ONCE, ...marker });
    const {
      Uploads = [],
      IsTruncated,
      NextKeyMarker,
      NextUploadIdMarker,
    } = await send((client, abortSignal) => client.send(list, { abortSignal }));
    for (const { Key = "", UploadId, Initiated } of Uploads) {
      if (UploadId === undefined || Initiated === undefined || Initiated > before || !isStoredName(Key))
        continue;
      removed += await endUpload({ send, name: Bucket }, Key, UploadId);
    }
    if (IsTruncated !== true) break;
    marker = { KeyMarker: NextKeyMarker, UploadIdMarker: NextUploadIdMarker };
  }
  return removed;
}

async function endUpload({ send, name: Bucket }: Bucket, Key: string, UploadId: string): Promise<0 | 1> {
  try {
    await send((client, abortSignal) =>
      client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId }), { abortSignal }),
    );
    return 1;
  } catch (error) {
    // Completed or ended meanwhile.
    if (answerOf(error)?.reason === "NoSuchUpload") return 0;
    throw error;
  }
}
