/** The object store over S3 and compatible stores, such as MinIO, Ceph and R2. */
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
import { openOnce } from "../../process/concurrency/open-once.ts";
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
/** Pages that a sweep looks at; the next sweep begins with what this one left. */
const SWEPT_PAGES = 10;

/**
 * Objects of one bucket. Nothing is written before the store has shown that it keeps its promises.
 *
 * @example `test/storage/stores/s3.process.test.ts`
 * @see docs/decisions/0027-objects-on-s3.md
 */
export function createS3Store(settings: S3Settings): ObjectStore {
  const { send, sendOnce } = connect(settings);
  const bucket: Bucket = { send, name: settings.bucket };
  const { stallMs = STALL_MS } = settings;
  const { open: prove } = openOnce(() => probe(bucket));
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

/** Bytes of an object. A 404 without a body may also mean that the bucket is missing, which is an outage. */
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

/** Opens an object; a download that is continued gets bytes of the same version, or is refused. */
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
    // AWS never answers so, but some compatible stores do.
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
    // Every store says whether there is more. A proxy's page, say, would look like an empty bucket.
    if (IsTruncated === undefined || (IsTruncated && NextContinuationToken === undefined))
      throw unavailable(new Error("The store's answer is no list."));
    const objects = Contents.flatMap(({ Key, LastModified }) =>
      Key === undefined ? [] : [{ name: Key, updatedAt: LastModified ?? new Date(0) }],
    );
    return { objects, next: NextContinuationToken };
  });
}

/** Ends Holdfast's own uploads in parts that began before `before`. @returns how many it were. */
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
    // It was completed or ended meanwhile.
    if (answerOf(error)?.reason === "NoSuchUpload") return 0;
    throw error;
  }
}
