/** The only reader of compressed RTF, in which Outlook keeps bodies ([MS-OXRTFCP]). */

import { countSourceText } from "../source-text.ts";

const HEADER_BYTES = 16;
const COMPRESSED = 0x75465a4c;
const WINDOW_BYTES = 4096;
const MAX_UNPACKED_BYTES = 64 * 1024 * 1024;

/** What every body begins with in the window, so that short ones compress too. */
const PRELOADED = Buffer.from(
  "{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \\fscript \\fdecor MS Sans SerifSymbolArialTimes New RomanCourier" +
    "{\\colortbl\\red0\\green0\\blue0\r\n\\par \\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx",
  "latin1",
);

/** The RTF; what is damaged ends early. */
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

/** Groups of eight: a byte of flags, then for each a byte as it is, or a reference into the last 4,096 bytes. */
function unpackBody(body: Buffer, size: number): Buffer {
  const window = Buffer.alloc(WINDOW_BYTES);
  PRELOADED.copy(window);
  const unpacking: Unpacking = { out: Buffer.alloc(size), written: 0, window, position: PRELOADED.length };
  let at = 0;
  for (let bit = 8, flags = 0; at < body.length && unpacking.written < size; bit++) {
    if (bit === 8) {
      flags = body[at++] ?? 0;
      bit = 0;
    }
    if ((flags & (1 << bit)) === 0) put(unpacking, body[at++] ?? 0);
    else if (at + 1 >= body.length || !copyReference(unpacking, body.readUInt16BE(at))) break;
    else at += 2;
  }
  return unpacking.out.subarray(0, unpacking.written);
}

function put(unpacking: Unpacking, byte: number): void {
  if (unpacking.written < unpacking.out.length) unpacking.out[unpacking.written++] = byte;
  unpacking.window[unpacking.position] = byte;
  unpacking.position = (unpacking.position + 1) % WINDOW_BYTES;
}

/** False at the mark of the end: a reference to where the next byte goes. */
function copyReference(unpacking: Unpacking, reference: number): boolean {
  const offset = reference >> 4;
  if (offset === unpacking.position) return false;
  for (let step = 0; step < (reference & 15) + 2; step++)
    put(unpacking, unpacking.window[(offset + step) % WINDOW_BYTES] ?? 0);
  return true;
}
