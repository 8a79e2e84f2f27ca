import { defineMessages } from "../../messages/messages.ts";

export const messages = defineMessages(
  {
    pages: "Pages of the list",
    page: (n: number) => `Page ${n}`,
    previous: "Previous page",
    next: "Next page",
    shownOnce: "This is shown only once. Copy or download it before you close this.",
    secret: "Secret text",
    download: "Download",
    tryIt: "Try it",
    close: "Close",
    kept: "Done",
    cancel: "Cancel",
  },
  {
    pages: "Seiten der Liste",
    page: (n) => `Seite ${n}`,
    previous: "Vorige Seite",
    next: "Nächste Seite",
    shownOnce: "Er wird jetzt gezeigt und nie wieder. Kopieren oder speichern Sie ihn, bevor Sie schließen.",
    secret: "Geheimer Text",
    download: "Speichern",
    tryIt: "Ausprobieren",
    close: "Schließen",
    kept: "Ich habe ihn verwahrt",
    cancel: "Abbrechen",
  },
);
