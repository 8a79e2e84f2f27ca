/** Offers a stored file over HTTP: its name for the browser, and the part of it that was asked for. */

/**
 * The `Content-Disposition` of a download: the name in ASCII, and as it is if that is not the same.
 * @see https://www.rfc-editor.org/rfc/rfc6266
 */
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
 * Reads a `Range` header. Null if the whole file is to be sent: without the header, for several ranges, and
 * for a range that is invalid or not of bytes.
 * @see https://www.rfc-editor.org/rfc/rfc9110#section-14
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
