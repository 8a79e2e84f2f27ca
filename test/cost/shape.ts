/** Defines shapes of text and the few ways to make them. */

export interface Shape {
  readonly name: string;
  /** Makes about `length` UTF-16 units. Half the length must be about half as hard. */
  make(length: number): string;
}

export const named = (name: string, make: (length: number) => string): Shape => ({ name, make });
export const repeat = (unit: string, length: number): string =>
  unit.repeat(Math.max(1, Math.floor(length / unit.length)));
/** Escapes control characters and line ends, for names of shapes. */
export const shown = (text: string): string =>
  JSON.stringify(text.length > 24 ? `${text.slice(0, 24)}…` : text).slice(1, -1);

/** Joins lines, or other parts, that are made from their number, until they are long enough. */
export function counted(length: number, part: (index: number) => string): string {
  const parts: string[] = [];
  for (let index = 0, made = 0; made < length; index++) {
    const next = part(index);
    parts.push(next);
    made += next.length;
  }
  return parts.join("");
}

/** Repeats the unit. */
export const repeated = (unit: string, before = "", after = ""): Shape =>
  named(`${shown(before)}${shown(unit)} × n`, (length) => before + repeat(unit, length) + after);

/** Opens a bracket as often as it closes it. */
export const nested = (open: string, close: string, before = "", after = ""): Shape =>
  named(`${shown(before)}${shown(open)} nested`, (length) => {
    const depth = Math.max(1, Math.floor(length / (open.length + close.length)));
    return `${before}${open.repeat(depth)}x${close.repeat(depth)}${after}`;
  });

/** Opens a bracket that is never closed, followed by words. */
export const unclosed = (open: string): Shape =>
  named(`${shown(open)} never closed`, (length) => open + repeat("word and more\n", length));

export const numbered = (name: string, part: (index: number) => string, before = "", after = ""): Shape =>
  named(name, (length) => before + counted(length, part) + after);
