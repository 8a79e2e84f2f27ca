/**
 * The look of the console: Mantine's own, with colours whose contrast is 4.5 to 1 at least, light and dark.
 */
import { type CSSVariablesResolver, type MantineThemeOverride, createTheme } from "@mantine/core";
import { LANGUAGES, type Language } from "../messages/messages.ts";
import { messages } from "./messages.ts";

const themeOf = (language: Language): MantineThemeOverride => {
  // Mantine draws only a cross, and takes the head of a dialog for that of the page.
  const dialog = { closeButtonProps: { "aria-label": messages[language].header.close } };
  const dialogHead = { defaultProps: { role: "none" } };
  return createTheme({
    primaryColor: "indigo",
    primaryShade: { light: 7, dark: 7 },
    defaultRadius: "sm",
    cursorType: "pointer",
    respectReducedMotion: true,
    fontFamily: "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif",
    fontFamilyMonospace: "ui-monospace, SFMono-Regular, Menlo, Consolas, monospace",
    components: {
      Modal: { defaultProps: { centered: true, ...dialog } },
      ModalHeader: dialogHead,
      Drawer: { defaultProps: dialog },
      Notification: { defaultProps: dialog },
      // The colour is in the ground and the frame; words in it are too pale on it.
      Alert: { styles: { title: { color: "var(--mantine-color-text)" } } },
      DrawerHeader: dialogHead,
      // A menu holds its items and nothing else; the first one gets the focus.
      Menu: { defaultProps: { withInitialFocusPlaceholder: false } },
      Tooltip: { defaultProps: { withArrow: true, events: { hover: true, focus: true, touch: true } } },
    },
  });
};

export const themes = Object.fromEntries(
  LANGUAGES.map((language) => [language, themeOf(language)]),
) as Readonly<Record<Language, MantineThemeOverride>>;

export const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    "--mantine-color-dimmed": "var(--mantine-color-gray-7)",
    "--mantine-color-placeholder": "var(--mantine-color-gray-7)",
    "--mantine-color-error": "var(--mantine-color-red-9)",
  },
  dark: {
    "--mantine-color-dimmed": "var(--mantine-color-dark-1)",
    "--mantine-color-placeholder": "var(--mantine-color-dark-1)",
    "--mantine-color-error": "var(--mantine-color-red-4)",
  },
});
