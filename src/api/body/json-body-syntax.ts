/** Finds where a text stops being JSON, as Python's `json` says it. Called if `JSON.parse` fails. */

export interface SyntaxFault {
  /** Offset in UTF-16 units. */
  readonly position: number;
  readonly error: string;
}

const SCALAR = /(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)/y;
const SPACE = /[ \t\n\r]*/y;
// Strings are read by character codes, because they may be as long as a body and hold millions of escapes.
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const FIRST_ALLOWED = 0x20;
const LETTER_U = 0x75;
const ESCAPED = /["\\/bfnrt]/;
const HEXADECIMAL = /^[0-9a-fA-F]{4}$/;

type Expecting = "value" | "first value" | "key" | "first key" | "comma";

/** Takes linear time and does not recurse, however deep `text` is nested. */
export function firstSyntaxError(text: string): SyntaxFault {
  const open: ("[" | "{")[] = [];
  let position = skip(SPACE, text, 0);
  let expecting: Expecting = "value";
  for (;;) {
    const step = next(text, position, { open, expecting });
    if ("error" in step) return step;
    position = skip(SPACE, text, step.position);
    expecting = step.expecting;
  }
}

type Step = SyntaxFault | { readonly position: number; readonly expecting: Expecting };
type Open = ("[" | "{")[];

function next(
  text: string,
  position: number,
  { open, expecting }: { open: Open; expecting: Expecting },
): Step {
  if (expecting === "comma") return afterValue(text, position, open);
  const read = expecting.endsWith("key") ? keyAt : valueAt;
  return read(text, position, { open, isFirst: expecting.startsWith("first") });
}

function valueAt(text: string, position: number, { open, isFirst }: { open: Open; isFirst: boolean }): Step {
  const character = text[position];
  if (isFirst && character === "]") {
    open.pop();
    return { position: position + 1, expecting: "comma" };
  }
  if (character === "[" || character === "{") {
    open.push(character);
    return { position: position + 1, expecting: character === "[" ? "first value" : "first key" };
  }
  if (character === '"') return stringAt(text, position, "comma");
  const end = skip(SCALAR, text, position);
  return end === position ? { position, error: "Expecting value" } : { position: end, expecting: "comma" };
}

function keyAt(text: string, position: number, { open, isFirst }: { open: Open; isFirst: boolean }): Step {
  if (isFirst && text[position] === "}") {
    open.pop();
    return { position: position + 1, expecting: "comma" };
  }
  if (text[position] !== '"') return { position, error: "Expecting property name enclosed in double quotes" };
  const key = stringAt(text, position, "comma");
  if ("error" in key) return key;
  const colon = skip(SPACE, text, key.position);
  return text[colon] === ":"
    ? { position: colon + 1, expecting: "value" }
    : { position: colon, error: "Expecting ':' delimiter" };
}

function afterValue(text: string, position: number, open: Open): Step {
  const inside = open.at(-1);
  if (inside === undefined) return { position, error: "Extra data" };
  if (text[position] === ",") return { position: position + 1, expecting: inside === "[" ? "value" : "key" };
  if (text[position] !== (inside === "[" ? "]" : "}")) return { position, error: "Expecting ',' delimiter" };
  open.pop();
  return { position: position + 1, expecting: "comma" };
}

function stringAt(text: string, start: number, expecting: Expecting): Step {
  for (let position = start + 1; position < text.length; position += 1) {
    const code = text.charCodeAt(position);
    if (code === QUOTE) return { position: position + 1, expecting };
    if (code < FIRST_ALLOWED) return { position, error: "Invalid control character at" };
    if (code !== BACKSLASH) continue;
    const isUnicode = text.charCodeAt(position + 1) === LETTER_U;
    const isValid = isUnicode
      ? HEXADECIMAL.test(text.slice(position + 2, position + 6))
      : ESCAPED.test(text.charAt(position + 1));
    if (!isValid) return { position, error: isUnicode ? "Invalid \\uXXXX escape" : "Invalid \\escape" };
    position += isUnicode ? 5 : 1;
  }
  return { position: start, error: "Unterminated string starting at" };
}

function skip(pattern: RegExp, text: string, position: number): number {
  pattern.lastIndex = position;
  return pattern.exec(text)?.[0] === undefined ? position : pattern.lastIndex;
}
