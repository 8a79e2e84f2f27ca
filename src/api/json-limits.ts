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

const [QUOTE, COMMA, OPEN_LIST, BACKSLASH, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x22, 0x2c, 0x5b, 0x5c, 0x5d, 0x7b, 0x7d] as const;
const SPACE = 0x20;

/**
 * Which limit the UTF-8 text passes, as a sentence; null where it passes none. What is no JSON is counted in the same way, by its commas
 * and brackets outside of strings.
 */
export function limitPassed(bytes: Uint8Array, { maxDepth, maxValues }: Omit<JsonLimits, "maxBytes">): string | null {
  let depth = 0;
  let values = 1;
  let isJustOpened = false;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at]!;
    if (byte <= SPACE) continue;
    if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
      // An empty one has no first element.
      if (isJustOpened) values -= 1;
      isJustOpened = false;
      depth -= 1;
      continue;
    }
    isJustOpened = false;
    if (byte === QUOTE) {
      at = endOfString(bytes, at);
    } else if (byte === COMMA) {
      values += 1;
    } else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      values += 1;
      depth += 1;
      isJustOpened = true;
      if (depth > maxDepth) return `JSON body is nested deeper than the allowed ${maxDepth} levels`;
    }
    if (values > maxValues + 1) break;
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
