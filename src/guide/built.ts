/** What the guide is made of, and where it is when it is built. */
import { join } from "node:path";
import { ROOT, type SitePlaces, findSite } from "../site/place.ts";

export const DOCS = join(ROOT, "docs");

export const GUIDE: SitePlaces = {
  name: "guide",
  sources: ["docs", "src/guide", "src/site", "src/schema/error-pages.ts", "src/domain/errors.ts"],
  home: "docs",
};

/** @returns the folder of the built guide; undefined while there is none for these sources. */
export const findGuide = (dataDir: string): Promise<string | undefined> => findSite(GUIDE, dataDir);
