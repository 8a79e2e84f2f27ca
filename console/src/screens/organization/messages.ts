import { defineMessages } from "../../messages/messages.ts";

export const messages = defineMessages(
  {
    tabsLabel: "Parts of the organization",
    tabs: { usage: "Usage", audit: "Audit log", webhooks: "Webhooks", settings: "Settings" },
    settings: {
      name: "Name",
      id: "Id",
      since: "Since",
      lifetimes: "How long API keys live",
      usual: "New keys live, in days, where nothing is asked",
      usualHint: "Empty: as long as the longest below, or without an end.",
      longest: "The longest that a new key may live, in days",
      longestHint: "Empty: no bound.",
      keep: "Keys that exist keep their end.",
      save: "Save",
      saved: "Saved",
      noNumber: "A number of days above 0",
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
