/** The only place that makes spellings one that readers take for the same word. */
import type { Script } from "./language.ts";

export const NOT_ASCII = /\P{ASCII}/u;

/** Longer runs of marks are taken apart by a joiner that shows nothing: the Stream-Safe Text Process of Unicode (UAX 15, section 13). */
const MARKS_IN_A_ROW = /\p{M}{30}(?=\p{M})/gu;
const JOINER = "\u034f";

/** NFKC in linear time: ICU sorts the marks of a run in time square in its length. */
export function toNfkc(text: string): string {
  return NOT_ASCII.test(text) ? text.replace(MARKS_IN_A_ROW, `$&${JOINER}`).normalize("NFKC") : text;
}

const lower = (text: string): string => text.toLowerCase();

const BY_SCRIPT: Readonly<Record<Script, (text: string) => string>> = {
  // The lower case of a Turkish capital I with dot is an i and a dot.
  latin: (text) => text.toLowerCase().replaceAll("\u0307", ""),
  // Capitals are written without accents.
  greek: (text) =>
    text
      .toLowerCase()
      .normalize("NFD")
      .replace(/\p{Mn}/gu, "")
      .replaceAll("ς", "σ"),
  cyrillic: (text) => text.toLowerCase().replaceAll("ё", "е").replaceAll("\u0301", ""),
  // Vowel marks, lengthening, the seats of hamza, and the Persian forms of letters.
  arabic: (text) =>
    text
      .replace(/[\u064b-\u065f\u0670\u0640]/g, "")
      .replace(/[أإآٱ]/g, "ا")
      .replace(/[ىی]/g, "ي")
      .replaceAll("ک", "ك"),
  hebrew: (text) => text.replace(/\p{Mn}/gu, ""),
  armenian: lower,
  // The dot of ड़, फ़ and their like is often left out.
  devanagari: (text) => text.replaceAll("\u093c", ""),
  tamil: lower,
  other: lower,
};

/** Lower case of a word in NFKC, with the spellings of its script that writers do not tell apart made one. */
export function normalize(text: string, script: Script, language: string | null): string {
  if (language === "tr") return text.toLocaleLowerCase("tr").replaceAll("\u0307", "");
  return NOT_ASCII.test(text) ? BY_SCRIPT[script](text) : text.toLowerCase();
}

const WITHOUT_DECOMPOSITION: Readonly<Record<string, string>> = {
  ß: "ss",
  ø: "o",
  æ: "ae",
  œ: "oe",
  đ: "d",
  ð: "d",
  ł: "l",
  þ: "th",
  ı: "i",
};

/** A Latin word without its diacritics: what people type who have no such keys. */
export function fold(word: string): string {
  if (!NOT_ASCII.test(word)) return word;
  return word
    .normalize("NFD")
    .replace(/\p{Mn}/gu, "")
    .replace(/[ßøæœđðłþı]/g, (letter) => WITHOUT_DECOMPOSITION[letter]!);
}
