/** Tells the script of a word by its first letter. */

export type Script =
  | "latin"
  | "greek"
  | "cyrillic"
  | "armenian"
  | "hebrew"
  | "arabic"
  | "devanagari"
  | "tamil"
  | "other";

/** Exclusive ends of UTF-16 ranges, ascending; what lies after the last is "other". */
const RANGES: readonly (readonly [end: number, script: Script])[] = [
  [0x0370, "latin"],
  [0x0400, "greek"],
  [0x0530, "cyrillic"],
  [0x0590, "armenian"],
  [0x0600, "hebrew"],
  [0x0780, "arabic"],
  [0x08a0, "other"],
  [0x0900, "arabic"],
  [0x0980, "devanagari"],
  [0x0b80, "other"],
  [0x0c00, "tamil"],
  [0x1e00, "other"],
  [0x1f00, "latin"],
  [0x2000, "greek"],
];

export function scriptOf(word: string): Script {
  const code = word.charCodeAt(0);
  for (const [end, script] of RANGES) if (code < end) return script;
  // Arabic presentation forms.
  return code >= 0xfb50 && code < 0xff00 ? "arabic" : "other";
}
