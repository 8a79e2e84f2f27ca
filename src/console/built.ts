/** What the console is made of, and where it is when it is built. */
import { join } from "node:path";
import { ROOT, type SitePlaces, findSite } from "../site/place.ts";

export const CONSOLE_SOURCES = join(ROOT, "console");

export const CONSOLE: SitePlaces = {
  name: "console",
  sources: ["console", "tsconfig.json", "clients/typescript/src", "src/console", "src/site"],
  home: "console",
};

/** @returns the folder of the built console; undefined while there is none for these sources. */
export const findConsole = (dataDir: string): Promise<string | undefined> => findSite(CONSOLE, dataDir);
