/** Reads zip archives for the parsers: unpacks an entry only after its declared size is within bounds. */

import { fromBufferPromise, type Entry, type ZipFile } from "yauzl";
import { buffer } from "node:stream/consumers";
import { DomainError } from "../../domain/errors.ts";
import { storableText } from "../parser.ts";
import { countSourceText } from "../source-text.ts";

const MEBIBYTE = 1024 * 1024;
const MAX_ENTRIES = 20_000;
/** Unpacked bytes of one entry. */
const MAX_ENTRY_BYTES = 128 * MEBIBYTE;
/** Unpacked bytes of all entries that are read; an entry that is read twice counts twice. */
const MAX_READ_BYTES = 256 * MEBIBYTE;
const ENCRYPTED_FLAG = 1;
/** The first bytes of an Office document with a password, which is a compound file and no zip archive. */
const COMPOUND_FILE_MAGIC = Buffer.from("d0cf11e0a1b11ae1", "hex");

export interface ZipArchive {
  /** Paths of its files, in the archive's order; folders are left out. */
  readonly names: readonly string[];
  /** Undefined if there is no such file. Throws `too_large` over a bound, `encrypted`, `corrupt`. */
  read(name: string): Promise<Buffer | undefined>;
}

/**
 * Opens an archive in memory. Throws `corrupt` if the bytes are none, `encrypted` for an Office document with
 * a password, and `too_large` for more than {@link MAX_ENTRIES} entries.
 */
export async function openZip(bytes: Buffer): Promise<ZipArchive> {
  if (bytes.subarray(0, 8).equals(COMPOUND_FILE_MAGIC))
    throw new DomainError("encrypted", "The document is protected by a password.");
  const zip = await openBuffer(bytes);
  const entries = await listEntries(zip);
  const counted = new Set<string>();
  let read = 0;
  return {
    names: [...entries.keys()],
    async read(name) {
      const entry = entries.get(name);
      if (entry === undefined) return undefined;
      if ((entry.generalPurposeBitFlag & ENCRYPTED_FLAG) !== 0)
        throw new DomainError("encrypted", "The archive is protected by a password.");
      read += entry.uncompressedSize;
      if (entry.uncompressedSize > MAX_ENTRY_BYTES || read > MAX_READ_BYTES)
        throw new DomainError("too_large", "The unpacked file is too large to parse.");
      if (!counted.has(name)) countSourceText(entry.uncompressedSize);
      counted.add(name);
      return unpack(zip, entry);
    },
  };
}

async function openBuffer(bytes: Buffer): Promise<ZipFile> {
  try {
    return await fromBufferPromise(withTrueComment(bytes), {
      lazyEntries: true,
      autoClose: false,
      strictFileNames: false,
      validateEntrySizes: true,
    });
  } catch (error) {
    throw new DomainError("corrupt", "The file is not a readable archive.", { cause: error });
  }
}

const END_OF_DIRECTORY = Buffer.from("504b0506", "hex");
const END_OF_DIRECTORY_BYTES = 22;
const COMMENT_LENGTH_AT = 20;
const MAX_COMMENT_BYTES = 0xffff;

/** Corrects the length of the archive's comment: some programs write another one than it has. */
function withTrueComment(bytes: Buffer): Buffer {
  const at = bytes.lastIndexOf(END_OF_DIRECTORY);
  const length = bytes.length - at - END_OF_DIRECTORY_BYTES;
  if (at < 0 || length < 0 || length > MAX_COMMENT_BYTES) return bytes;
  if (bytes.readUInt16LE(at + COMMENT_LENGTH_AT) === length) return bytes;
  const corrected = Buffer.from(bytes);
  corrected.writeUInt16LE(length, at + COMMENT_LENGTH_AT);
  return corrected;
}

async function listEntries(zip: ZipFile): Promise<Map<string, Entry>> {
  if (zip.entryCount > MAX_ENTRIES)
    throw new DomainError("too_large", `The archive has more than ${MAX_ENTRIES} files.`);
  const entries = new Map<string, Entry>();
  try {
    for await (const entry of zip.eachEntry())
      if (!entry.fileName.endsWith("/")) entries.set(storableText(entry.fileName), entry);
  } catch (error) {
    // The entries that the directory lists before the damage can still be read.
    if (entries.size === 0)
      throw new DomainError("corrupt", "The archive's directory is damaged.", { cause: error });
  }
  for (const name of entries.keys()) countSourceText(name.length);
  return entries;
}

async function unpack(zip: ZipFile, entry: Entry): Promise<Buffer> {
  try {
    return await buffer(await zip.openReadStreamPromise(entry));
  } catch (error) {
    throw new DomainError("corrupt", "A file in the archive is damaged.", { cause: error });
  }
}
