/** The only place that names a chunk's text by its content: under a secret, so that nobody can tell what text a name stands for. */
import { createHmac } from "node:crypto";

const HASH_BYTES = 16;

export function contentHash(secret: Uint8Array, text: string): Buffer {
  return createHmac("sha256", secret).update(text).digest().subarray(0, HASH_BYTES);
}
