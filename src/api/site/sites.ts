/** What the guide and the console are made of, and where they are when they are built. */
import { join } from "node:path";
import { ROOT, type SitePlaces, findSite } from "./place.ts";

export const DOCS = join(ROOT, "docs");

export const GUIDE: SitePlaces = {
  name: "guide",
  sources: ["docs", "scripts/guide", "scripts/site", "src/schema/error-pages.ts", "src/domain/errors.ts"],
};

export const CONSOLE_SOURCES = join(ROOT, "console");

export const CONSOLE: SitePlaces = {
  name: "console",
  sources: ["console", "tsconfig.json", "clients/typescript/src", "scripts/console", "scripts/site"],
};

/** @returns the folder of the built guide; undefined while there is none for these sources. */
export const findGuide = (dataDir: string): Promise<string | undefined> => findSite(GUIDE, dataDir);

/** @returns the folder of the built console; undefined while there is none for these sources. */
export const findConsole = (dataDir: string): Promise<string | undefined> => findSite(CONSOLE, dataDir);
