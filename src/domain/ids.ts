/** The only place that makes ids: UUIDv7 (RFC 9562), so that rows of one time lie together in an index. */

/** A new UUIDv7; ids of one process and millisecond are random among themselves. */
export function newId(nowMs: number = Date.now()): string {
  const time = nowMs.toString(16).padStart(12, "0");
  // A UUIDv4 is at the same place what a version 7 is behind its time: four bits of version, 12 random ones, the variant, 62 random ones.
  const random = crypto.randomUUID().slice(15);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${random}`;
}
