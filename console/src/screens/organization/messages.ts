import { defineMessages } from "../../messages/messages.ts";

export const messages = defineMessages(
  {
    tabsLabel: "Parts of the organization",
    tabs: { usage: "Usage", audit: "Audit log", webhooks: "Webhooks", settings: "Settings" },
    settings: {
      name: "Name",
      id: "Id",
      since: "Since",
      lifetimes: "API key lifetimes",
      usual: "Default lifetime of new keys, in days",
      usualHint: "Leave empty for the maximum below, or for keys that never expire.",
      longest: "Maximum lifetime of new keys, in days",
      longestHint: "Leave empty for no limit.",
      keep: "Existing keys keep their expiry.",
      save: "Save",
      saved: "Saved",
      noNumber: "Enter a number of days above 0",
    },
  },
  {
    tabsLabel: "Teile der Organisation",
    tabs: { usage: "Verbrauch", audit: "Prüfprotokoll", webhooks: "Webhooks", settings: "Einstellungen" },
    settings: {
      name: "Name",
      id: "Id",
      since: "Seit",
      lifetimes: "Wie lange API-Schlüssel leben",
      usual: "Neue Schlüssel leben, in Tagen, wenn nichts verlangt wird",
      usualHint: "Leer: so lange wie höchstens erlaubt, oder ohne Ende.",
      longest: "So lange darf ein neuer Schlüssel höchstens leben, in Tagen",
      longestHint: "Leer: ohne Grenze.",
      keep: "Schlüssel, die es gibt, behalten ihr Ende.",
      save: "Speichern",
      saved: "Gespeichert",
      noNumber: "Eine Zahl von Tagen über 0",
    },
  },
);
