/** The only place that counts what a JSON text holds: over its bytes in one pass, before anything is parsed. */

export interface JsonLimits {
  readonly maxBytes: number;
  /** Objects and lists around the innermost value. */
  readonly maxDepth: number;
  /** Of all kinds, at every level: each member of an object, each element of a list, and the text's own value. */
  readonly maxValues: number;
}

/** What a body may hold; a route that carries more by its nature declares limits of its own. */
export const JSON_LIMITS: JsonLimits = { maxBytes: 4 * 1_024 * 1_024, maxDepth: 64, maxValues: 100_000 };

const [QUOTE, BACKSLASH] = [0x22, 0x5c] as const;
const [OTHER, SPACE, STRING, COMMA, OPEN, CLOSE] = [0, 1, 2, 3, 4, 5] as const;
/** What a byte outside of strings is. */
const KINDS = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte <= 0x20) return SPACE;
  return (
    { '"': STRING, ",": COMMA, "[": OPEN, "{": OPEN, "]": CLOSE, "}": CLOSE }[String.fromCharCode(byte)] ??
    OTHER
  );
});
/** By kind: what it adds to the depth, and to the number of values. A list or object has a first value, and one more behind each comma. */
const DEEPER = [0, 0, 0, 0, 1, -1] as const;
const MORE_VALUES = [0, 0, 0, 1, 1, 0] as const;

/**
 * Which limit the UTF-8 text passes, as a sentence; null where it passes none. What is no JSON is counted in the same way, by its commas
 * and brackets outside of strings.
 */
export function limitPassed(
  bytes: Uint8Array,
  { maxDepth, maxValues }: Omit<JsonLimits, "maxBytes">,
): string | null {
  let depth = 0;
  let values = 1;
  let isJustOpened = false;
  for (let at = 0; at < bytes.length; at += 1) {
    const kind = KINDS[bytes[at]!]!;
    if (kind === SPACE) continue;
    if (kind === STRING) at = endOfString(bytes, at);
    depth += DEEPER[kind]!;
    values += MORE_VALUES[kind]!;
    // An empty one has no first value.
    if (kind === CLOSE && isJustOpened) values -= 1;
    isJustOpened = kind === OPEN;
    if (depth > maxDepth) return `JSON body is nested deeper than the allowed ${maxDepth} levels`;
  }
  return values > maxValues ? `JSON body holds more than the allowed ${maxValues} values` : null;
}

/** Where the closing quote of the string that begins at `start` is; the text's end where there is none. */
function endOfString(bytes: Uint8Array, start: number): number {
  for (let at = start + 1; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === BACKSLASH) at += 1;
    else if (byte === QUOTE) return at;
  }
  return bytes.length;
}
