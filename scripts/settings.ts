/** Writes docs/settings.md from the settings in `src/config`; with `--check` compares the file with them. */
import { readFileSync, writeFileSync } from "node:fs";
import { Command } from "commander";
import { describeSettings } from "../src/config/settings/document.ts";

new Command("settings")
  .description("Writes the page of all settings.")
  .argument("<file>", "where to")
  .option("--check", "write nothing; fail if the file does not match the settings")
  .action((file: string, { check }: { readonly check?: boolean }) => {
    const text = describeSettings();
    if (check !== true) {
      writeFileSync(file, text);
    } else if (readFileSync(file, "utf8") !== text) {
      process.stderr.write(`${file} does not match src/config. Run: npm run settings\n`);
      process.exitCode = 1;
    }
  })
  .parse();
