/** Builds the guide if its sources have changed. @see scripts/site/command.ts */
import { runSiteCommand } from "../site/command.ts";
import { buildGuide } from "./build.ts";
import { GUIDE } from "../../src/api/site/sites.ts";

await runSiteCommand(GUIDE, buildGuide);
