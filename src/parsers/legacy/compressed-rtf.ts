/**
 * Unpacks compressed RTF, in which Outlook keeps the bodies of messages.
 *
 * @see [MS-OXRTFCP]
 */

import { countSourceText } from "../source-text.ts";

const HEADER_BYTES = 16;
const COMPRESSED = 0x75465a4c;
const WINDOW_BYTES = 4096;
const FLAG_BITS = 8;
const MAX_UNPACKED_BYTES = 64 * 1024 * 1024;

/** The initial content of the window, so that short bodies compress too. */
const PRELOADED = Buffer.from(
  "{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern " +
    "\\fscript \\fdecor MS Sans SerifSymbolArialTimes New RomanCourier" +
    "{\\colortbl\\red0\\green0\\blue0\r\n\\par \\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx",
  "latin1",
);

/** The RTF, at most {@link MAX_UNPACKED_BYTES} of it. Never throws: a damaged body ends at the damage. */
export function unpackRtf(packed: Buffer): Buffer {
  if (packed.length < HEADER_BYTES) return Buffer.alloc(0);
  const size = Math.min(packed.readUInt32LE(4), MAX_UNPACKED_BYTES);
  const body = packed.subarray(HEADER_BYTES);
  const unpacked = packed.readUInt32LE(8) === COMPRESSED ? unpackBody(body, size) : body.subarray(0, size);
  countSourceText(unpacked.length);
  return unpacked;
}

interface Unpacking {
  readonly out: Buffer;
  written: number;
  readonly window: Buffer;
  position: number;
}

/**
 * The body is a sequence of groups: a byte of flags, then eight items. By its flag an item is one literal
 * byte, or a reference of two bytes into the last {@link WINDOW_BYTES} of the output.
 */
function unpackBody(body: Buffer, size: number): Buffer {
  const window = Buffer.alloc(WINDOW_BYTES);
  PRELOADED.copy(window);
  const unpacking: Unpacking = { out: Buffer.alloc(size), written: 0, window, position: PRELOADED.length };
  let at = 0;
  let flags = 0;
  let bit = FLAG_BITS;
  while (at < body.length && unpacking.written < size) {
    if (bit === FLAG_BITS) {
      flags = body[at] ?? 0;
      at++;
      bit = 0;
    }
    const isReference = (flags & (1 << bit)) !== 0;
    bit++;
    if (!isReference) {
      put(unpacking, body[at] ?? 0);
      at++;
      continue;
    }
    if (at + 1 >= body.length || !copyReference(unpacking, body.readUInt16BE(at))) break;
    at += 2;
  }
  return unpacking.out.subarray(0, unpacking.written);
}

function put(unpacking: Unpacking, byte: number): void {
  if (unpacking.written < unpacking.out.length) {
    unpacking.out[unpacking.written] = byte;
    unpacking.written++;
  }
  unpacking.window[unpacking.position] = byte;
  unpacking.position = (unpacking.position + 1) % WINDOW_BYTES;
}

/** Copies the bytes referred to. False at the end mark, a reference to the next byte's place. */
function copyReference(unpacking: Unpacking, reference: number): boolean {
  const offset = reference >> 4;
  if (offset === unpacking.position) return false;
  for (let step = 0; step < (reference & 15) + 2; step++)
    put(unpacking, unpacking.window[(offset + step) % WINDOW_BYTES] ?? 0);
  return true;
}
