/**
 * Ids are UUIDv7, so that rows of the same time are neighbours in an index.
 * @see https://www.rfc-editor.org/rfc/rfc9562
 */

/** A new UUIDv7. Ids of the same millisecond are in random order. */
export function newId(nowMs: number = Date.now()): string {
  const time = nowMs.toString(16).padStart(12, "0");
  // After its time a UUIDv7 is as a UUIDv4: the version, 12 random bits, the variant, 62 random bits.
  const random = crypto.randomUUID().slice(15);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${random}`;
}

/** The source of an expression that matches a UUID in lower case, for names that contain one. */
export const UUID_PATTERN = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}";

const UUID = new RegExp(`^${UUID_PATTERN}$`, "i");

/** True for a UUID of any version, in upper or lower case. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}
