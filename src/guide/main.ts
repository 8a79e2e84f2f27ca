/** Builds the guide if its sources have changed. @see src/site/command.ts */
import { runSiteCommand } from "../site/command.ts";
import { buildGuide } from "./build.ts";
import { GUIDE } from "./built.ts";

await runSiteCommand(GUIDE, buildGuide);
