/** What a shape of text is, and the few ways in which all of them are made. */

export interface Shape {
  readonly name: string;
  /** About `length` UTF-16 units of it; half of it is about half as hard. */
  make(length: number): string;
}

export const named = (name: string, make: (length: number) => string): Shape => ({ name, make });
export const repeat = (unit: string, length: number): string =>
  unit.repeat(Math.max(1, Math.floor(length / unit.length)));
/** For names of shapes: control characters and line ends as escapes. */
export const shown = (text: string): string =>
  JSON.stringify(text.length > 24 ? `${text.slice(0, 24)}…` : text).slice(1, -1);

/** Lines, or other parts, made from their number until they are long enough. */
export function counted(length: number, part: (index: number) => string): string {
  const parts: string[] = [];
  for (let index = 0, made = 0; made < length; index++) {
    const next = part(index);
    parts.push(next);
    made += next.length;
  }
  return parts.join("");
}

/** The unit again and again. */
export const repeated = (unit: string, before = "", after = ""): Shape =>
  named(`${shown(before)}${shown(unit)} × n`, (length) => before + repeat(unit, length) + after);

/** Opened as often as it is closed. */
export const nested = (open: string, close: string, before = "", after = ""): Shape =>
  named(`${shown(before)}${shown(open)} nested`, (length) => {
    const depth = Math.max(1, Math.floor(length / (open.length + close.length)));
    return `${before}${open.repeat(depth)}x${close.repeat(depth)}${after}`;
  });

/** Opened once, then words that nothing ends. */
export const unclosed = (open: string): Shape =>
  named(`${shown(open)} never closed`, (length) => open + repeat("word and more\n", length));

export const numbered = (name: string, part: (index: number) => string, before = "", after = ""): Shape =>
  named(name, (length) => before + counted(length, part) + after);
