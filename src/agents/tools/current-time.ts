/** The tool that tells the time. */
import { z } from "zod";
import { DomainError } from "../../domain/errors.ts";
import { defineTool } from "./define-tool.ts";

export const currentTime = defineTool({
  name: "current_time",
  description: "Tells the current date and time.",
  args: z.object({
    timezone: z.string().max(64).default("UTC").describe("IANA name of the time zone, e.g. Europe/Berlin."),
  }),
  async run(_context, { timezone }) {
    const now = new Date();
    try {
      const local = new Intl.DateTimeFormat("en-GB", {
        dateStyle: "full",
        timeStyle: "long",
        timeZone: timezone,
      }).format(now);
      return { type: "text", text: `${now.toISOString()} (${local})` };
    } catch {
      throw new DomainError("invalid", "timezone: not the IANA name of a time zone");
    }
  },
});
