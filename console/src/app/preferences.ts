/** What a person has chosen for this browser: the language; the colours are kept by Mantine. */
import { LANGUAGES, type Language } from "../messages/messages.ts";

const LANGUAGE = "holdfast.language";

const isLanguage = (value: string | null | undefined): value is Language =>
  LANGUAGES.some((language) => language === value);

/** The language that was chosen, or else the first one of the browser that the console has. */
export function preferredLanguage(): Language {
  const chosen = localStorage.getItem(LANGUAGE);
  if (isLanguage(chosen)) return chosen;
  return navigator.languages.map((tag) => tag.slice(0, 2)).find(isLanguage) ?? "en";
}

export const keepLanguage = (language: Language): void => localStorage.setItem(LANGUAGE, language);

const LAST_SPACE = "holdfast.space";

/** The space that was shown last, to which the console comes back. */
export const lastSpace = (): string | null => localStorage.getItem(LAST_SPACE);
export const keepLastSpace = (spaceId: string): void => localStorage.setItem(LAST_SPACE, spaceId);
