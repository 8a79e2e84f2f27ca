import { createContext, useContext } from "react";
import type { Language } from "../messages/messages.ts";

export const LanguageChoice = createContext<(language: Language) => void>(() => undefined);

export const useLanguageChoice = (): ((language: Language) => void) => useContext(LanguageChoice);
