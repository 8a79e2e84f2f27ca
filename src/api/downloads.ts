/** Offers a stored file over HTTP: its name for the browser, and the part of it that was asked for. */

/** `attachment` with the name for every client (RFC 6266): in ASCII, and as it is where that is not enough. */
export function attachment(name: string): string {
  const ascii = name
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .replaceAll(/[^\x20-\x7e]/gu, "_")
    .replaceAll(/["\\%]/g, "_");
  const extended = encodeURIComponent(name).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${ascii}"${ascii === name ? "" : `; filename*=UTF-8''${extended}`}`;
}

export interface ByteRange {
  /** Inclusive. */
  readonly start: number;
  /** Exclusive. */
  readonly end: number;
}

/**
 * The one range that a `Range` header asks for (RFC 9110, section 14). Null where the whole is to be sent: without one, for several
 * at once, and for what is no range of bytes.
 */
export function readRange(header: string | undefined, size: number): ByteRange | null | "unsatisfiable" {
  const [, first = "", last = ""] =
    /^\s*bytes\s*=\s*(?:(\d+)\s*)?-\s*(?:(\d+)\s*)?$/i.exec(header ?? "") ?? [];
  if (first === "" && last === "") return null;
  if (first === "") return suffix(Number(last), size);
  const start = Number(first);
  const end = last === "" ? Number.POSITIVE_INFINITY : Number(last) + 1;
  if (end <= start) return null;
  return start >= size ? "unsatisfiable" : { start, end: Math.min(end, size) };
}

function suffix(length: number, size: number): ByteRange | "unsatisfiable" {
  return length === 0 || size === 0 ? "unsatisfiable" : { start: Math.max(0, size - length), end: size };
}
