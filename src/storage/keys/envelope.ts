/**
 * The format of encrypted objects: AES-256-GCM in segments, by the STREAM construction.
 *
 * @see Hoang, Reyhanitabar, Rogaway, Vizár: "Online Authenticated-Encryption and its Nonce-Reuse
 *   Misuse-Resistance" (CRYPTO 2015)
 */
import { createCipheriv, createDecipheriv, createSecretKey, randomBytes } from "node:crypto";
import type { KeyObject } from "node:crypto";
import { DomainError } from "../../domain/errors.ts";
import { createByteReader } from "../stores/byte-reader.ts";
import type { ByteReader } from "../stores/byte-reader.ts";
import { openBytes, sealBytes } from "./keyring.ts";
import type { OrganizationKey } from "./keyring.ts";

/*
 * object  = header (88 bytes), segment 0 … segment n, n ≥ 0
 * header  = "HFE1", version (1), id of the organization's key (16), data key wrapped by it (12 + 32 + 16),
 *           nonce prefix (7)
 * segment = ciphertext of 64 KiB of plaintext (the last one: 0 to 64 KiB, empty only in an empty object),
 *           tag (16)
 * nonce   = prefix (7), number of the segment (u32, big endian), 1 in the last segment, else 0
 * aad     = organization, object name, header
 *
 * A segment therefore opens only in its place, in its object and under its name, and the flag in the nonce of
 * the last segment shows if the end was cut off.
 */
const MAGIC = Buffer.from("HFE1\x01", "latin1");
const KEY_ID_BYTES = 16;
const DATA_KEY_BYTES = 32;
const WRAPPED_KEY_BYTES = 12 + DATA_KEY_BYTES + 16;
const PREFIX_BYTES = 7;
const TAG_BYTES = 16;
const MAX_SEGMENTS = 2 ** 32;
export const HEADER_BYTES = MAGIC.byteLength + KEY_ID_BYTES + WRAPPED_KEY_BYTES + PREFIX_BYTES;
export const SEGMENT_BYTES = 64 * 1024;
const SEALED_BYTES = SEGMENT_BYTES + TAG_BYTES;

/** The owner and name of an object; it opens under no other. */
export interface ObjectIdentity {
  readonly organizationId: string;
  readonly objectName: string;
}

interface Segments {
  readonly key: KeyObject;
  readonly prefix: Buffer;
  readonly aad: Buffer;
}

/**
 * The encrypted form of `source`, piece by piece, under a fresh data key. At most two segments are in memory;
 * the receiver may free the pieces.
 */
export async function* encryptStream(
  source: AsyncIterable<Uint8Array>,
  identity: ObjectIdentity & { readonly organizationKey: OrganizationKey },
): AsyncGenerator<Buffer> {
  const dataKey = randomBytes(DATA_KEY_BYTES);
  const prefix = randomBytes(PREFIX_BYTES);
  const wrapped = sealBytes(identity.organizationKey.secret, dataKey, dataKeyAad(identity));
  const header = Buffer.concat([MAGIC, uuidBytes(identity.organizationKey.id), wrapped, prefix]);
  const segments: Segments = { key: createSecretKey(dataKey), prefix, aad: segmentAad(identity, header) };
  dataKey.fill(0);
  yield header;
  const reader = createByteReader(source);
  // One buffer for all segments: memory outside of V8's heap is collected only with the whole heap, which
  // stops everything.
  const segment = Buffer.allocUnsafeSlow(SEGMENT_BYTES);
  try {
    let last = false;
    for (let index = 0; !last; index += 1) {
      const plain = await reader.takeInto(segment);
      last = await reader.atEnd();
      yield* sealSegment(segments, plain, nonceOf(prefix, index, last));
    }
  } finally {
    await reader.close();
  }
}

export interface Envelope {
  /** Id of the organization key that wraps the data key: a UUID in lower case. */
  readonly organizationKeyId: string;
  readonly header: Buffer;
}

/** Reads the first {@link HEADER_BYTES} of an object. @throws `corrupt` if they are no such header. */
export function readHeader(header: Buffer): Envelope {
  if (header.byteLength !== HEADER_BYTES || !header.subarray(0, MAGIC.byteLength).equals(MAGIC))
    throw corrupt();
  const hex = header.toString("hex", MAGIC.byteLength, MAGIC.byteLength + KEY_ID_BYTES);
  return { header, organizationKeyId: hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5") };
}

export interface DecryptOptions extends ObjectIdentity {
  /** Finds the key that a header names. */
  readonly keyById: (keyId: string) => Promise<OrganizationKey>;
}

/**
 * The plaintext of a whole object. Each piece is authenticated before it is given out. Only the last piece
 * shows that the object is complete, so a caller that stops earlier has a true beginning of it.
 *
 * @throws `corrupt` if a byte was changed or the end is missing.
 * @example `test/storage/keys/envelope.test.ts`
 */
export async function* decryptStream(
  source: AsyncIterable<Uint8Array>,
  options: DecryptOptions,
): AsyncGenerator<Buffer> {
  const reader = createByteReader(source);
  try {
    const envelope = readHeader(await reader.take(HEADER_BYTES));
    const key = await options.keyById(envelope.organizationKeyId);
    yield* decryptSegments(reader, openEnvelope(envelope, options, key));
  } finally {
    await reader.close();
  }
}

/** Unwraps the data key. @throws `corrupt` if the header belongs to another object or organization. */
export function openEnvelope({ header }: Envelope, identity: ObjectIdentity, key: OrganizationKey): Segments {
  const start = MAGIC.byteLength + KEY_ID_BYTES;
  const dataKey = openBytes(
    key.secret,
    header.subarray(start, start + WRAPPED_KEY_BYTES),
    dataKeyAad(identity),
  );
  const secret = createSecretKey(dataKey);
  dataKey.fill(0);
  return {
    key: secret,
    prefix: header.subarray(HEADER_BYTES - PREFIX_BYTES),
    aad: segmentAad(identity, header),
  };
}

/** The plaintext of all segments from here to the object's end. @throws `corrupt`. */
export async function* decryptSegments(reader: ByteReader, segments: Segments): AsyncGenerator<Buffer> {
  const segment = Buffer.allocUnsafeSlow(SEALED_BYTES);
  let last = false;
  for (let index = 0; !last; index += 1) {
    const sealed = await reader.takeInto(segment);
    last = await reader.atEnd();
    yield openSegment(segments, sealed, nonceOf(segments.prefix, index, last));
  }
}

/** The plaintext of one range; `reader` has the bytes that {@link openRange} named. @throws `corrupt`. */
export async function* decryptRange(
  reader: ByteReader,
  segments: Segments,
  range: CipherRange,
): AsyncGenerator<Buffer> {
  let { skip } = range;
  let left = range.bytes;
  const segment = Buffer.allocUnsafeSlow(SEALED_BYTES);
  for (let index = range.firstSegment; left > 0; index += 1) {
    const sealed = await reader.takeInto(segment);
    const plain = openSegment(
      segments,
      sealed,
      nonceOf(segments.prefix, index, index === range.finalSegment),
    );
    const wanted = plain.subarray(skip, skip + left);
    if (wanted.byteLength === 0) throw corrupt();
    yield wanted;
    left -= wanted.byteLength;
    skip = 0;
  }
}

export interface CipherRange {
  /** First byte of the encrypted object to read, inclusive. */
  readonly start: number;
  /** The byte after the last one to read. */
  readonly end: number;
  readonly firstSegment: number;
  /** The object's last segment, which has another nonce, whether the range reaches it or not. */
  readonly finalSegment: number;
  /** Plaintext bytes of the first segment before the range. */
  readonly skip: number;
  /** Plaintext bytes of the range. */
  readonly bytes: number;
}

/** Where an encrypted object has plaintext [start, end). @throws `range_not_satisfiable` if empty. */
export function openRange(
  storedBytes: number,
  { start, end }: { readonly start: number; readonly end?: number | undefined },
): CipherRange {
  const size = plainSize(storedBytes);
  const stop = Math.min(end ?? size, size);
  if (!(start >= 0 && start < stop))
    throw new DomainError("range_not_satisfiable", "The range is empty or starts behind the end.");
  const firstSegment = Math.floor(start / SEGMENT_BYTES);
  const lastSegment = Math.floor((stop - 1) / SEGMENT_BYTES);
  return {
    start: HEADER_BYTES + firstSegment * SEALED_BYTES,
    end: Math.min(HEADER_BYTES + (lastSegment + 1) * SEALED_BYTES, storedBytes),
    firstSegment,
    finalSegment: Math.max(0, Math.ceil(size / SEGMENT_BYTES) - 1),
    skip: start - firstSegment * SEGMENT_BYTES,
    bytes: stop - start,
  };
}

/** Plaintext bytes of an encrypted object of `storedBytes`. @throws `corrupt` for an impossible size. */
export function plainSize(storedBytes: number): number {
  const sealed = storedBytes - HEADER_BYTES;
  const count = Math.ceil(sealed / SEALED_BYTES);
  const size = sealed - count * TAG_BYTES;
  if (sealed < TAG_BYTES || storedSize(size) !== storedBytes) throw corrupt();
  return size;
}

export function storedSize(size: number): number {
  return HEADER_BYTES + size + TAG_BYTES * Math.max(1, Math.ceil(size / SEGMENT_BYTES));
}

/** @returns the ciphertext and its tag; in this mode `final` adds nothing. */
function sealSegment({ key, aad }: Segments, plain: Buffer, nonce: Buffer): Buffer[] {
  const cipher = createCipheriv("aes-256-gcm", key, nonce, { authTagLength: TAG_BYTES }).setAAD(aad);
  return [cipher.update(plain), cipher.final(), cipher.getAuthTag()].filter((piece) => piece.byteLength > 0);
}

function openSegment({ key, aad }: Segments, sealed: Buffer, nonce: Buffer): Buffer {
  const end = sealed.byteLength - TAG_BYTES;
  if (end < 0) throw corrupt();
  const decipher = createDecipheriv("aes-256-gcm", key, nonce, { authTagLength: TAG_BYTES })
    .setAAD(aad)
    .setAuthTag(sealed.subarray(end));
  try {
    const plain = decipher.update(sealed.subarray(0, end));
    decipher.final();
    return plain;
  } catch (error) {
    throw corrupt(error);
  }
}

function nonceOf(prefix: Buffer, index: number, last: boolean): Buffer {
  if (index >= MAX_SEGMENTS)
    throw new DomainError("too_large", "The object has more segments than can be numbered.");
  const nonce = Buffer.alloc(PREFIX_BYTES + 5);
  prefix.copy(nonce);
  nonce.writeUInt32BE(index, PREFIX_BYTES);
  nonce.writeUInt8(last ? 1 : 0, PREFIX_BYTES + 4);
  return nonce;
}

function dataKeyAad({ organizationId, objectName }: ObjectIdentity): Buffer {
  return Buffer.from(`holdfast data key\0${organizationId}\0${objectName}`);
}

function segmentAad({ organizationId, objectName }: ObjectIdentity, header: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`holdfast segment\0${organizationId}\0${objectName}\0`), header]);
}

function uuidBytes(uuid: string): Buffer {
  const bytes = Buffer.from(uuid.replaceAll("-", ""), "hex");
  if (bytes.byteLength !== KEY_ID_BYTES) throw new DomainError("internal", "A key's id is a UUID.");
  return bytes;
}

function corrupt(cause?: unknown): DomainError {
  return new DomainError("corrupt", "A stored object failed its integrity check.", { cause });
}
