/** Brings spellings that readers take for the same word into one form. */
import type { Script } from "./script.ts";

export const NOT_ASCII = /\P{ASCII}/u;

/** Divides longer runs of marks by an invisible character (Stream-Safe Text Process, UAX 15, section 13). */
const MARKS_IN_A_ROW = /\p{M}{30}(?=\p{M})/gu;
const JOINER = "\u034f";

/** NFKC in linear time; ICU by itself needs time square in the length of a run of marks, which it sorts. */
export function toNfkc(text: string): string {
  return NOT_ASCII.test(text) ? text.replace(MARKS_IN_A_ROW, `$&${JOINER}`).normalize("NFKC") : text;
}

const lower = (text: string): string => text.toLowerCase();

const BY_SCRIPT: Readonly<Record<Script, (text: string) => string>> = {
  // In lower case a Turkish capital I with a dot is an i and a combining dot.
  latin: (text) => text.toLowerCase().replaceAll("\u0307", ""),
  // Greek capitals are written without accents.
  greek: (text) =>
    text
      .toLowerCase()
      .normalize("NFD")
      .replace(/\p{Mn}/gu, "")
      .replaceAll("ς", "σ"),
  cyrillic: (text) => text.toLowerCase().replaceAll("ё", "е").replaceAll("\u0301", ""),
  // Without vowel marks and lengthening; one form for alef with or without hamza, for yeh and kaf.
  arabic: (text) =>
    text
      .replace(/[\u064b-\u065f\u0670\u0640]/g, "")
      .replace(/[أإآٱ]/g, "ا")
      .replace(/[ىی]/g, "ي")
      .replaceAll("ک", "ك"),
  hebrew: (text) => text.replace(/\p{Mn}/gu, ""),
  armenian: lower,
  // The dot of letters like ड़ and फ़ is often left out.
  devanagari: (text) => text.replaceAll("\u093c", ""),
  tamil: lower,
  other: lower,
};

/** The lower case of a word in NFKC; spellings that writers of its script hold equal become the same. */
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

/** A Latin word without its diacritics, as people type it who have no keys for them. */
export function fold(word: string): string {
  if (!NOT_ASCII.test(word)) return word;
  return word
    .normalize("NFD")
    .replace(/\p{Mn}/gu, "")
    .replace(/[ßøæœđðłþı]/g, (letter) => WITHOUT_DECOMPOSITION[letter]!);
}
