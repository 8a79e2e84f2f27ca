/**
 * Shows, before anything is written to a bucket, that it exists, that it may be used, and that it honours
 * conditions and checksums.
 *
 * @see docs/decisions/0027-objects-on-s3.md
 */
import { randomUUID } from "node:crypto";
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import { settleAll } from "../../process/concurrency/settle-all.ts";
import { UnfitStoreError, within } from "../object-store.ts";
import { type S3Answer, answerOf } from "./s3-client.ts";
import { type Bucket, checksum } from "./s3-upload.ts";

/** A process that starts does not wait longer for a slow store: it is probed before the first write. */
const PROBE_TIMEOUT_MS = 10_000;
const CONTENT = Buffer.from("Holdfast looks whether this store keeps its promises.");
/** An ETag that no object has. */
const OTHER_ETAG = '"00000000000000000000000000000000"';
const OTHER_CHECKSUM = checksum(Buffer.from("something else"));

/**
 * Writes, reads and deletes an object below `probes/`.
 *
 * @throws UnfitStoreError that says in one line what is wrong; DomainError `storage_unavailable` if the store
 *   does not answer.
 * @example `test/storage/stores/s3-probe.process.test.ts`
 */
export async function probe(bucket: Bucket): Promise<void> {
  await within(PROBE_TIMEOUT_MS, probeWith(asking(bucket), bucket.name));
}

/** Sends one request; `right` names the permission that it needs. */
type Ask = <T>(
  right: string,
  request: (client: S3Client, options: { abortSignal: AbortSignal }) => Promise<T>,
) => Promise<T>;

function asking({ send, name }: Bucket): Ask {
  return async (right, request) => {
    try {
      return await send((client, abortSignal) => request(client, { abortSignal }));
    } catch (error) {
      throw unfit(error, name, right) ?? error;
    }
  };
}

/** Undefined if waiting may help, and for refusals that the probe expects. */
function unfit(error: unknown, bucket: string, right: string): UnfitStoreError | undefined {
  const answer = answerOf(error);
  if (answer === undefined) return withoutAnswer(error);
  const because = reasonOf(answer, bucket, right);
  return because === undefined ? undefined : new UnfitStoreError(because, { cause: error });
}

function reasonOf(
  { status, reason, bucketRegion }: S3Answer,
  bucket: string,
  right: string,
): string | undefined {
  if (reason === "NoSuchBucket") return `S3_BUCKET names a bucket that does not exist: ${bucket}`;
  if (bucketRegion !== undefined && [301, 307, 400].includes(status))
    return `S3_REGION must be ${bucketRegion}, where the bucket ${bucket} is`;
  if (reason === "InvalidAccessKeyId" || reason === "SignatureDoesNotMatch")
    return `AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are refused by the store (${reason})`;
  if (status === 401 || status === 403)
    return `S3_BUCKET cannot be used: the right ${right} on ${bucket} is missing (${reason})`;
  if (status === 405 || status === 501)
    return (
      "S3_BUCKET is in a store without what Holdfast needs: " +
      `${right} was answered with ${status} ${reason}`
    );
  return undefined;
}

/** The errors of AWS's client that come before any request. */
function withoutAnswer(error: unknown): UnfitStoreError | undefined {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (!(cause instanceof Error)) return undefined;
  if (cause.name === "CredentialsProviderError")
    return new UnfitStoreError(
      "S3_BUCKET needs credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, " +
        "or give the machine a role",
    );
  if (/region is missing/i.test(cause.message))
    return new UnfitStoreError("S3_BUCKET needs a region: set S3_REGION");
  return undefined;
}

async function probeWith(ask: Ask, Bucket: string): Promise<void> {
  const place = { Bucket, Key: `probes/${randomUUID()}` };
  await ask("s3:ListBucket", (client, options) =>
    client.send(new ListObjectsV2Command({ Bucket, MaxKeys: 1 }), options),
  );
  await ask("s3:PutObject", (client, options) =>
    client.send(
      new PutObjectCommand({ ...place, Body: CONTENT, IfNoneMatch: "*", ChecksumCRC32: checksum(CONTENT) }),
      options,
    ),
  );
  try {
    // All are awaited: a write that arrives after the deletion would create the object again.
    await settleAll([
      refuses(
        ask,
        "a second PutObject with If-None-Match",
        new PutObjectCommand({ ...place, Body: CONTENT, IfNoneMatch: "*" }),
      ),
      refuses(
        ask,
        "a PutObject with another If-Match",
        new PutObjectCommand({ ...place, Body: CONTENT, IfMatch: OTHER_ETAG }),
      ),
      refuses(
        ask,
        "a PutObject with a wrong checksum",
        new PutObjectCommand({ ...place, Body: CONTENT, ChecksumCRC32: OTHER_CHECKSUM }),
      ),
      refusesParts(ask, place),
      ask("s3:GetObject", async (client, options) =>
        (await client.send(new GetObjectCommand(place), options)).Body?.transformToByteArray(),
      ),
      ask("s3:ListBucketMultipartUploads", (client, options) =>
        client.send(new ListMultipartUploadsCommand({ Bucket, MaxUploads: 1 }), options),
      ),
    ]);
  } finally {
    await ask("s3:DeleteObject", (client, options) => client.send(new DeleteObjectCommand(place), options));
  }
}

/** @throws UnfitStoreError if the store does what it must refuse. */
async function refuses(
  ask: Ask,
  what: string,
  command: PutObjectCommand | CompleteMultipartUploadCommand,
): Promise<void> {
  try {
    await ask("s3:PutObject", (client, options) => client.send(command as PutObjectCommand, options));
  } catch (error) {
    const { status } = answerOf(error) ?? {};
    if (status === 412 || status === 409 || status === 400) return;
    throw error;
  }
  throw new UnfitStoreError(
    `S3_BUCKET is in a store that Holdfast cannot use: it did not refuse ${what}, ` +
      "so that one write could replace or damage another",
  );
}

async function refusesParts(ask: Ask, place: { Bucket: string; Key: string }): Promise<void> {
  const { UploadId } = await ask("s3:PutObject", (client, options) =>
    client.send(new CreateMultipartUploadCommand({ ...place, ChecksumAlgorithm: "CRC32" }), options),
  );
  try {
    const part = { PartNumber: 1, ChecksumCRC32: checksum(CONTENT) };
    const { ETag } = await ask("s3:PutObject", (client, options) =>
      client.send(new UploadPartCommand({ ...place, UploadId, ...part, Body: CONTENT }), options),
    );
    const complete = new CompleteMultipartUploadCommand({
      ...place,
      UploadId,
      IfNoneMatch: "*",
      MultipartUpload: { Parts: [{ ...part, ETag }] },
    });
    await refuses(ask, "a CompleteMultipartUpload with If-None-Match of an object that is there", complete);
  } finally {
    await ask("s3:AbortMultipartUpload", (client, options) =>
      client.send(new AbortMultipartUploadCommand({ ...place, UploadId }), options),
    ).catch((error: unknown) => {
      // A store that wrongly completed the upload cannot abort it any more.
      if (answerOf(error)?.reason !== "NoSuchUpload") throw error;
    });
  }
}
