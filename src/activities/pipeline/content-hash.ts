/** The keyed hash that a text's embedding is cached under. Only the secret tells which text it stands for. */
import { createHmac } from "node:crypto";

const HASH_BYTES = 16;

/**
 * @param header is embedded with the text. A chunk without one has the hash that versions before 0.10.0 gave
 *   it, and shares their vectors.
 */
export function contentHash(secret: Uint8Array, text: string, header: string | null = null): Buffer {
  // No text has a NUL (`storableText`), so no text alone has the hash of a header and a text.
  const content = header === null || header === "" ? text : `${header}\0${text}`;
  return createHmac("sha256", secret).update(content).digest().subarray(0, HASH_BYTES);
}
