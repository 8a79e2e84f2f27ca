/** Writes the OpenAPI document to standard output or a file. With `--check` it compares the file instead. */
import { readFileSync, writeFileSync } from "node:fs";
import { Command } from "commander";
import { createOpenApi } from "../src/api/openapi.ts";
import { API_ROUTES } from "../src/api/routes/index.ts";

new Command("openapi")
  .description("Writes the OpenAPI document of the API.")
  .argument("[file]", "output file (default: standard output)")
  .option("--check", "write nothing; fail if the file does not match the routes")
  .action((file: string | undefined, { check }: { readonly check?: boolean }) => {
    const text = `${JSON.stringify(createOpenApi(API_ROUTES), null, 2)}\n`;
    if (file === undefined) {
      process.stdout.write(text);
    } else if (check !== true) {
      writeFileSync(file, text);
    } else if (read(file) !== text) {
      process.stderr.write(`${file} does not match the routes. Run: npm run openapi\n`);
      process.exitCode = 1;
    }
  })
  .parse();

function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
