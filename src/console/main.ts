/** Builds the console if its sources have changed. @see src/site/command.ts */
import { runSiteCommand } from "../site/command.ts";
import { buildConsole } from "./build.ts";
import { CONSOLE } from "./built.ts";

await runSiteCommand(CONSOLE, buildConsole);
