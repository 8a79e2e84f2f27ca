/**
 * Writes zip archives without compression, for a library that would itself unpack without bounds.
 *
 * @see docs/decisions/0029-libraries-or-our-own.md for why this is not yazl.
 */

import { crc32 } from "node:zlib";

const LOCAL_SIGNATURE = 0x04034b50;
const ENTRY_SIGNATURE = 0x02014b50;
const END_SIGNATURE = 0x06054b50;
const LOCAL_BYTES = 30;
const ENTRY_BYTES = 46;
const END_BYTES = 22;
const VERSION = 20;
const UTF8_FLAG = 0x0800;

/** An archive of these files, stored uncompressed: fewer than 65,536 files, less than 4 GiB in all. */
export function storedZip(files: readonly { readonly name: string; readonly bytes: Buffer }[]): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, bytes } of files) {
    const path = Buffer.from(name);
    const common = Buffer.alloc(LOCAL_BYTES - 4);
    common.writeUInt16LE(VERSION, 0);
    common.writeUInt16LE(UTF8_FLAG, 2);
    common.writeUInt32LE(crc32(bytes), 10);
    common.writeUInt32LE(bytes.length, 14);
    common.writeUInt32LE(bytes.length, 18);
    common.writeUInt16LE(path.length, 22);
    const entry = Buffer.alloc(ENTRY_BYTES);
    entry.writeUInt32LE(ENTRY_SIGNATURE, 0);
    entry.writeUInt16LE(VERSION, 4);
    common.copy(entry, 6);
    entry.writeUInt32LE(offset, 42);
    directory.push(entry, path);
    const signature = Buffer.alloc(4);
    signature.writeUInt32LE(LOCAL_SIGNATURE);
    parts.push(signature, common, path, bytes);
    offset += LOCAL_BYTES + path.length + bytes.length;
  }
  const end = Buffer.alloc(END_BYTES);
  end.writeUInt32LE(END_SIGNATURE, 0);
  end.writeUInt16LE(files.length, 8);
  end.writeUInt16LE(files.length, 10);
  end.writeUInt32LE(
    directory.reduce((sum, part) => sum + part.length, 0),
    12,
  );
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, ...directory, end]);
}
