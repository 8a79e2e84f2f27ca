/** Counts the values and the depth of a JSON text over its bytes, in one pass and before it is parsed. */

export interface JsonLimits {
  readonly maxBytes: number;
  /** How many objects and lists may be around the innermost value. */
  readonly maxDepth: number;
  /** Counts each member of an object, each element of a list, and the outermost value. */
  readonly maxValues: number;
}

/** The limits of a route that declares none of its own. */
export const JSON_LIMITS: JsonLimits = { maxBytes: 4 * 1_024 * 1_024, maxDepth: 64, maxValues: 100_000 };

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LAST_SPACE = 0x20;

// Kinds of bytes outside of strings, as indexes of the tables below.
const OTHER = 0;
const SPACE = 1;
const STRING = 2;
const COMMA = 3;
const OPEN = 4;
const CLOSE = 5;
const KIND_OF_CHARACTER: Readonly<Record<string, number>> = {
  '"': STRING,
  ",": COMMA,
  "[": OPEN,
  "{": OPEN,
  "]": CLOSE,
  "}": CLOSE,
};
const KINDS = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte <= LAST_SPACE ? SPACE : (KIND_OF_CHARACTER[String.fromCharCode(byte)] ?? OTHER),
);
/** What a byte of each kind adds to the depth. */
const DEEPER = [0, 0, 0, 0, 1, -1] as const;
/** What a byte of each kind adds to the count of values: a list has a first one, and one for each comma. */
const MORE_VALUES = [0, 0, 0, 1, 1, 0] as const;

/**
 * Says in a sentence which limit the UTF-8 text passes; null if none. A text that is not JSON is counted in
 * the same way, by its commas and brackets outside of strings.
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
    // An empty list or object has no first value.
    if (kind === CLOSE && isJustOpened) values -= 1;
    isJustOpened = kind === OPEN;
    if (depth > maxDepth) return `JSON body is nested deeper than the allowed ${maxDepth} levels`;
  }
  return values > maxValues ? `JSON body holds more than the allowed ${maxValues} values` : null;
}

/** The position of the string's closing quote, or the end of the text if there is none. */
function endOfString(bytes: Uint8Array, start: number): number {
  for (let at = start + 1; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === BACKSLASH) at += 1;
    else if (byte === QUOTE) return at;
  }
  return bytes.length;
}
