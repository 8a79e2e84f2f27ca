/** Makes a piece of Markdown one plain line, in which a mark `[n]` behind it can only be a citation. */

/** An image or a link; what is left of it is its text. The bounds are beyond any real title or address. */
const LINK = /!?\[([^[\]]{0,400})\]\([^()\s]{0,2000}\)/g;
const TAG = /<[a-z/!][^<>]{0,2000}>/gi;
/** Emphasis opens before a word and closes after one; `2 * 3` and `snake_case` stay. */
const STARS = /\*{2,}|(?<![\s\p{N}])\*(?!\p{N})|\*(?![\s\p{N}*])/gu;
const UNDERLINES = /(?<![\p{L}\p{N}_])_{1,3}(?=[\p{L}\p{N}])|(?<=[\p{L}\p{N}.!?])_{1,3}(?![\p{L}\p{N}_])/gu;
/** Signs around formulas. Beside a number it is money. */
const DOLLARS = /\$\$|(?<!\p{N})\$(?!\p{N})/gu;
/** Unclosed, these turn the direction of everything behind the quote. */
const DIRECTIONS = /[\u202a-\u202e\u2066-\u2069]/g;
const ESCAPED = /\\(?=[\\`*_{}[\]()#+\-.!|<>~$])/g;

/** Stray backticks would make code of the mark behind the quote, and `[1]` in it would cite the source 1. */
function withoutTraps(text: string): string {
  return text
    .replace(DIRECTIONS, "")
    .replaceAll("`", "")
    .replace(/[\s\p{Cc}]+/gu, " ")
    .replace(/\[(?=\d)/g, "[ ")
    .trim();
}

export function plainProse(text: string): string {
  const plain = text
    .replace(LINK, "$1")
    .replace(TAG, " ")
    .replace(STARS, "")
    .replace(UNDERLINES, "")
    .replaceAll("~~", "")
    .replace(DOLLARS, "")
    .replace(ESCAPED, "");
  return withoutTraps(plain);
}

/** Signs mean something in code, so they stay, but for the prompt of a shell. */
export function plainCode(line: string): string {
  return withoutTraps(line).replace(/^\$ /, "");
}
