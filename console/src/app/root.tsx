/** Who is signed in decides what is shown: the page of the sign-in, or the console. */
import { type MantineColorScheme, MantineProvider } from "@mantine/core";
import { type ReactNode, Suspense, lazy, useEffect, useState } from "react";
import { type Language, LanguageContext } from "../messages/messages.ts";
import { type Entry, enter } from "./enter.ts";
import { LanguageChoice } from "./language-choice.ts";
import { keepLanguage, preferredLanguage } from "./preferences.ts";
import { SignedIn } from "./signed-in.tsx";
import { SignInPage } from "./sign-in-page.tsx";
import { cssVariables, themes } from "./theme.ts";

const Notifications = lazy(async () => ({ default: (await import("@mantine/notifications")).Notifications }));
const COLORS: MantineColorScheme = "auto";

export function Root(): ReactNode {
  const [entry, setEntry] = useState<Entry>({ phase: "entering" });
  const [language, setLanguage] = useState<Language>(preferredLanguage);
  useEffect(() => {
    // Each page enters once, also where React runs effects twice: a code of the issuer works only once.
    void enterOnce().then(setEntry);
  }, []);
  useEffect(() => {
    document.documentElement.lang = language;
  }, [language]);
  const choose = (chosen: Language): void => {
    keepLanguage(chosen);
    setLanguage(chosen);
  };
  return (
    <MantineProvider theme={themes[language]} defaultColorScheme={COLORS} cssVariablesResolver={cssVariables}>
      <LanguageContext value={language}>
        <LanguageChoice value={choose}>
          <Suspense>
            <Notifications position="bottom-right" />
          </Suspense>
          {entry.phase === "signed-in" ? <SignedIn entry={entry} /> : <SignInPage entry={entry} />}
        </LanguageChoice>
      </LanguageContext>
    </MantineProvider>
  );
}

let entered: Promise<Entry> | undefined;
const enterOnce = (): Promise<Entry> => (entered ??= enter());
