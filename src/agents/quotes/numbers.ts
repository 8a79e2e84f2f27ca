/** Reads numbers in text however they are written, so that 1,000 and 1000 are the same. */
import { NOT_ASCII, toNfkc } from "../../search/text/normalize.ts";

export interface FoundNumber {
  /** UTF-16 offsets in the text. */
  readonly start: number;
  readonly end: number;
  /** What it may mean: 1.234 is a thousand and more in one country and a little more than one in another. */
  readonly readings: readonly string[];
}

// What follows a cased letter is a part of a name, such as B12; scripts without case write numbers close.
const NUMBER = /(?<![\p{Lu}\p{Ll}\p{Nd}_][.,]?)\p{Nd}+(?:[.,'’٫٬\u00a0\u202f\u2009]\p{Nd}+)*/gu;
/** Longer ones are no numbers. */
const MAX_LENGTH = 40;

export function numbersIn(text: string): FoundNumber[] {
  const found: FoundNumber[] = [];
  for (const { 0: raw, index } of text.matchAll(NUMBER)) {
    if (raw.length <= MAX_LENGTH)
      found.push({ start: index, end: index + raw.length, readings: readingsOf(raw) });
  }
  return found;
}

const DECIMAL_SIGNS = new Set([".", ",", "٫"]);

function readingsOf(raw: string): string[] {
  const parts = raw.split(/[^\p{Nd}]/u).map(toAsciiDigits);
  if (parts.length === 1) return [withoutZeros(parts[0]!)];
  const signs = Array.from(raw.matchAll(/[^\p{Nd}]/gu), ([sign]) => sign);
  const last = parts.at(-1)!;
  const readings: string[] = [];
  const isGrouped =
    last.length === 3 && parts.slice(1).every((part) => part.length === 2 || part.length === 3);
  if (isGrouped) readings.push(withoutZeros(parts.join("")));
  const sign = signs.at(-1)!;
  if (DECIMAL_SIGNS.has(sign) && !signs.slice(0, -1).includes(sign)) {
    const whole = withoutZeros(parts.slice(0, -1).join(""));
    const fraction = withoutZerosBehind(last);
    if (fraction !== "") readings.push(`${whole}.${fraction}`);
    else if (!isGrouped) readings.push(whole);
  }
  // A date or a version: its parts in their order.
  if (readings.length === 0) readings.push(parts.map(withoutZeros).join("."));
  return readings;
}

function withoutZeros(digits: string): string {
  return digits.replace(/^0+(?=\d)/, "");
}

function withoutZerosBehind(digits: string): string {
  let end = digits.length;
  while (digits.charAt(end - 1) === "0") end--;
  return digits.slice(0, end);
}

/** The first code point of each row of ten digits that text in use has. */
const ZEROS = [
  0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xde6, 0xe50, 0xed0,
  0xf20, 0x1040, 0x17e0, 0x1810,
];

function toAsciiDigits(digits: string): string {
  if (!NOT_ASCII.test(digits)) return digits;
  return Array.from(toNfkc(digits), (digit) => {
    const code = digit.codePointAt(0)!;
    const zero = ZEROS.find((first) => code >= first && code < first + 10);
    return zero === undefined ? digit : String(code - zero);
  }).join("");
}
