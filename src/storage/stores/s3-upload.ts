/** Writes one object of S3 under a condition: in one request, or in parts of one size in constant memory. */
import { randomUUID } from "node:crypto";
import { crc32 } from "node:zlib";
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  type CompletedPart,
  CreateMultipartUploadCommand,
  HeadObjectCommand,
  PutObjectCommand,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import { DomainError } from "../../domain/errors.ts";
import { type BodyPart, cutBody } from "./body-parts.ts";
import { type PutOptions, unavailable, untilAborted } from "../object-store.ts";
import { type Send, answerOf } from "./s3-client.ts";

/** An upload has two parts in memory. R2 wants equal parts, and S3 at most 10,000: up to 78 GiB. */
const PART_BYTES = 8 * 1024 * 1024;
const MAX_PARTS = 10_000;
const WRITE_ID = "holdfast-write";
const CONTENT_TYPE = "application/octet-stream";

export interface Bucket {
  readonly send: Send;
  readonly name: string;
}

/** The state of the object in which a write takes effect. */
type Condition = { readonly IfNoneMatch: "*" } | { readonly IfMatch: string };

interface Target {
  readonly Bucket: string;
  readonly Key: string;
  readonly condition: Condition;
  /** Stored with the object, to recognize a write that is refused because it succeeded before its retry. */
  readonly writeId: string;
}

/** As {@link ObjectStore.put}. */
export async function upload(
  bucket: Bucket,
  name: string,
  body: AsyncIterable<Uint8Array>,
  options: PutOptions,
): Promise<{ bytes: number }> {
  const { signal, ifAbsent = false, ownsPieces = false } = options;
  signal?.throwIfAborted();
  const condition = ifAbsent ? ({ IfNoneMatch: "*" } as const) : await conditionOf(bucket, name);
  const target = { Bucket: bucket.name, Key: name, condition, writeId: randomUUID() };
  const stop = new AbortController();
  const stopped = signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal]);
  const parts = cutBody(untilAborted(body, stopped), { partBytes: PART_BYTES, ownsPieces });
  try {
    const first = (await parts.next()).value as BodyPart;
    if (!first.isLast) return await uploadParts({ send: bucket.send, target, stop, stopped }, first, parts);
    await putWhole(bucket.send, target, first.bytes, signal);
    return { bytes: first.bytes.byteLength };
  } finally {
    await parts.return(undefined);
  }
}

async function putWhole(
  send: Send,
  target: Target,
  Body: Buffer,
  signal: AbortSignal | undefined,
): Promise<void> {
  const put = new PutObjectCommand({
    ...placeOf(target),
    ...target.condition,
    ...contentOf(target),
    Body,
    ChecksumCRC32: checksum(Body),
  });
  await written(
    send,
    target,
    send((client, abortSignal) => client.send(put, { abortSignal }), signal),
  );
}

const placeOf = ({ Bucket, Key }: Target): { Bucket: string; Key: string } => ({ Bucket, Key });
const contentOf = ({ writeId }: Target) => ({ ContentType: CONTENT_TYPE, Metadata: { [WRITE_ID]: writeId } });

/** CRC32 as S3 writes it: the one checksum of S3 and its like that Node computes natively. */
export function checksum(bytes: Uint8Array): string {
  const text = Buffer.alloc(4);
  text.writeUInt32BE(crc32(bytes));
  return text.toString("base64");
}

/** The condition that nothing has changed since now, so that a retried write never replaces a later one. */
async function conditionOf({ send, name: bucket }: Bucket, name: string): Promise<Condition> {
  const head = new HeadObjectCommand({ Bucket: bucket, Key: name });
  try {
    const { ETag } = await send((client, abortSignal) => client.send(head, { abortSignal }));
    if (ETag === undefined) throw unavailable(new Error("The store names no ETag."));
    return { IfMatch: ETag };
  } catch (error) {
    if (error instanceof DomainError && error.code === "not_found") return { IfNoneMatch: "*" };
    throw error;
  }
}

/** Awaits a write. A refused one may have succeeded: its answer was lost, and the retry was refused. */
async function written(send: Send, target: Target, attempt: Promise<unknown>): Promise<void> {
  try {
    await attempt;
  } catch (error) {
    const { reason, status } = answerOf(error) ?? {};
    const isRefused = status === 412 || status === 409 || reason === "NoSuchUpload";
    if (isRefused && (await isOurs(send, target))) return;
    // The object that the write was to replace no longer exists.
    if (reason === "NoSuchKey")
      throw new DomainError("conflict", "The object was deleted meanwhile.", { cause: error });
    throw error;
  }
}

async function isOurs(send: Send, target: Target): Promise<boolean> {
  const head = new HeadObjectCommand(placeOf(target));
  try {
    const { Metadata } = await send((client, abortSignal) => client.send(head, { abortSignal }));
    return Metadata?.[WRITE_ID] === target.writeId;
  } catch (error) {
    if (error instanceof DomainError && error.code === "not_found") return false;
    throw error;
  }
}

interface Multipart {
  readonly send: Send;
  readonly target: Target;
  /** Aborted if a part fails, so that the body is not waited for. */
  readonly stop: AbortController;
  /** {@link Multipart.stop}, or the caller's signal. */
  readonly stopped: AbortSignal;
}

async function uploadParts(
  upload: Multipart,
  first: BodyPart,
  rest: AsyncIterable<BodyPart>,
): Promise<{ bytes: number }> {
  const { send, target, stop, stopped } = upload;
  const create = new CreateMultipartUploadCommand({
    ...placeOf(target),
    ...contentOf(target),
    ChecksumAlgorithm: "CRC32",
  });
  const { UploadId } = await send((client, abortSignal) => client.send(create, { abortSignal }), stopped);
  if (UploadId === undefined) throw unavailable(new Error("The store names no upload."));
  const sent: Promise<CompletedPart>[] = [];
  let bytes = 0;
  const begin = async (part: BodyPart): Promise<void> => {
    // One part is sent while the next is filled.
    await sent.at(-1);
    if (sent.length === MAX_PARTS)
      throw new DomainError(
        "too_large",
        `An object of this store has at most ${PART_BYTES * MAX_PARTS} bytes.`,
      );
    bytes += part.bytes.byteLength;
    const sending = sendPart(upload, UploadId, sent.length + 1, part.bytes);
    sending.catch((error: unknown) => stop.abort(error));
    sent.push(sending);
  };
  try {
    await begin(first);
    for await (const part of rest) await begin(part);
    const parts = await Promise.all(sent);
    const complete = new CompleteMultipartUploadCommand({
      ...placeOf(target),
      ...target.condition,
      UploadId,
      MultipartUpload: { Parts: parts },
    });
    await written(
      send,
      target,
      send((client, abortSignal) => client.send(complete, { abortSignal }), stopped),
    );
    return { bytes };
  } catch (error) {
    stop.abort(error);
    await Promise.allSettled(sent);
    await abandon(send, target, UploadId);
    throw error;
  }
}

async function sendPart(
  { send, target, stopped }: Multipart,
  UploadId: string,
  PartNumber: number,
  bytes: Buffer,
): Promise<CompletedPart> {
  const ChecksumCRC32 = checksum(bytes);
  const part = new UploadPartCommand({
    ...placeOf(target),
    UploadId,
    PartNumber,
    Body: bytes,
    ChecksumCRC32,
  });
  const { ETag } = await send((client, abortSignal) => client.send(part, { abortSignal }), stopped);
  if (ETag === undefined) throw unavailable(new Error("The store names no ETag."));
  return { ETag, PartNumber, ChecksumCRC32 };
}

/** Ends an upload. If this fails too, the sweep or the bucket's own rule removes what is left. */
async function abandon(send: Send, target: Target, UploadId: string): Promise<void> {
  const abort = new AbortMultipartUploadCommand({ ...placeOf(target), UploadId });
  await send((client, abortSignal) => client.send(abort, { abortSignal })).catch(() => {});
}
