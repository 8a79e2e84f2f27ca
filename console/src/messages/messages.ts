/**
 * The console's words: each screen and part has a file `messages.ts` with both languages, which the compiler
 * keeps equal in their keys. Numbers, dates and sizes are written by {@link useFormats}.
 */
import { createContext, useContext } from "react";

export const LANGUAGES = ["en", "de"] as const;
export type Language = (typeof LANGUAGES)[number];

/** A text, or a function that makes one of numbers and names. */
type Text = string | ((...values: never[]) => string);
interface Texts {
  readonly [key: string]: Text | Texts;
}
/** The same keys with the same parameters, in another language. */
type Translated<T> = {
  readonly [K in keyof T]: T[K] extends string
    ? string
    : T[K] extends (...values: infer V) => string
      ? (...values: V) => string
      : Translated<T[K]>;
};

export interface Messages<T> {
  readonly en: T;
  readonly de: Translated<T>;
}

/** @example const messages = defineMessages({ title: "Documents" }, { title: "Dokumente" }); */
export function defineMessages<const T extends Texts>(en: T, de: Translated<T>): Messages<T> {
  return { en, de };
}

export const LanguageContext = createContext<Language>("en");

export const useLanguage = (): Language => useContext(LanguageContext);

/** The texts in the language of the person. */
export function useMessages<T>(messages: Messages<T>): Translated<T> {
  return messages[useLanguage()] as Translated<T>;
}
