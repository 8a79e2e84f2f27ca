/** Reads the headers of a part of a multipart form, and makes a safe name of its file's name. */

const OCTET_STREAM = "application/octet-stream";
const MAX_CONTENT_TYPE_CHARACTERS = 255;
const MAX_FILENAME_BYTES = 255;
const MAX_EXTENSION_BYTES = 32;
const MAX_NAME_CHARACTERS = 1_024;

/** Header names in lower case; values as Latin-1, one character a byte. */
export type PartHeader = Readonly<Record<string, readonly string[] | undefined>>;

export interface PartDescription {
  /** Undefined if the part is not one of a form; it is ignored. */
  readonly name: string | undefined;
  /** Undefined for a text field. */
  readonly filename: string | undefined;
  readonly contentType: string;
  /** The bytes that its own `Content-Length` states; few clients send one. */
  readonly statedBytes: number | undefined;
}

/**
 * Reads a part's headers. `filename*` is preferred to `filename` if a client sends both.
 * @see https://www.rfc-editor.org/rfc/rfc7578#section-4.2 and https://www.rfc-editor.org/rfc/rfc5987
 */
export function readPartHeader(header: PartHeader): PartDescription {
  const disposition = header["content-disposition"]?.[0] ?? "";
  const contentType = (header["content-type"]?.[0] ?? "").slice(0, MAX_CONTENT_TYPE_CHARACTERS);
  const type = /^\s*form-data\s*(?=;|$)/i.exec(disposition);
  const parameters = parseParameters(fromUtf8(disposition.slice(type?.[0].length ?? disposition.length)));
  const stated = decodeExtended(parameters.get("filename*")) ?? parameters.get("filename");
  const isFile = stated !== undefined || contentType.toLowerCase() === OCTET_STREAM;
  return {
    name: parameters.get("name"),
    filename: isFile ? cleanFilename(stated ?? "") : undefined,
    contentType: contentType || OCTET_STREAM,
    statedBytes: lengthStatedBy(header),
  };
}

function lengthStatedBy(header: PartHeader): number | undefined {
  const text = header["content-length"]?.[0] ?? "";
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/** The parameters of a header's value after its first `;`, with names in lower case. */
export function parseParameters(text: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const [, key = "", quoted, bare] of text.matchAll(
    /;\s*([^\s=;"]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;"]*))/g,
  )) {
    found.set(key.toLowerCase(), quoted?.replaceAll(/\\(["\\])/g, "$1") ?? bare?.trim() ?? "");
  }
  return found;
}

/** Node decodes headers as Latin-1, but clients send UTF-8; what is not valid UTF-8 stays as it is. */
function fromUtf8(latin1: string): string {
  const text = Buffer.from(latin1, "latin1").toString("utf8");
  return text.includes("\ufffd") ? latin1 : text;
}

function decodeExtended(value: string | undefined): string | undefined {
  const [, charset, encoded] = /^(utf-8|iso-8859-1)'[^']*'(.*)$/i.exec(value ?? "") ?? [];
  if (charset === undefined || encoded === undefined) return undefined;
  const bytes = Buffer.from(
    encoded.replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    "latin1",
  );
  return bytes.toString(charset.toLowerCase() === "utf-8" ? "utf8" : "latin1");
}

/**
 * The last part of a path of any system, in NFC, without control characters, shortened to 255 bytes with its
 * extension kept; `file` if nothing is left.
 */
export function cleanFilename(name: string): string {
  const last = name.split(/[/\\]/).at(-1) ?? "";
  const clean = withoutMiddle(last)
    .toWellFormed()
    .replaceAll(/[\p{Cc}\u2028\u2029]/gu, "")
    .normalize("NFC");
  if (clean.trim() === "" || clean === "." || clean === "..") return "file";
  if (Buffer.byteLength(clean) <= MAX_FILENAME_BYTES) return clean;
  const dot = clean.lastIndexOf(".");
  const extension =
    dot > 0 && Buffer.byteLength(clean.slice(dot)) <= MAX_EXTENSION_BYTES ? clean.slice(dot) : "";
  const stem = clean.slice(0, clean.length - extension.length);
  return cutBytes(stem, MAX_FILENAME_BYTES - Buffer.byteLength(extension)) + extension;
}

/** Cuts a long name before it is normalized, because NFC takes quadratic time in a run of accents. */
function withoutMiddle(name: string): string {
  return name.length <= MAX_NAME_CHARACTERS
    ? name
    : name.slice(0, MAX_NAME_CHARACTERS) + name.slice(-MAX_EXTENSION_BYTES);
}

function cutBytes(text: string, bytes: number): string {
  return new TextDecoder().decode(Buffer.from(text).subarray(0, bytes), { stream: true });
}
