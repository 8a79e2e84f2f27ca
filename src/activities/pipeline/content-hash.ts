/**
 * The keyed hash under which the embedding of a text is cached. Without the secret nobody can tell which text
 * a hash stands for.
 */
import { createHmac } from "node:crypto";

const HASH_BYTES = 16;

export function contentHash(secret: Uint8Array, text: string): Buffer {
  return createHmac("sha256", secret).update(text).digest().subarray(0, HASH_BYTES);
}
