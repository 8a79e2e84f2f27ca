/** Builds the console if its sources have changed. @see scripts/site/command.ts */
import { runSiteCommand } from "../site/command.ts";
import { buildConsole } from "./build.ts";
import { CONSOLE } from "../../src/api/site/sites.ts";

await runSiteCommand(CONSOLE, buildConsole);
