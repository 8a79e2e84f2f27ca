/**
 * A preload (`node --import`): when the process exits, writes the URLs of the modules that it has loaded, a
 * line each, to the file that MODULES_FILE names. A pipe would take only what fits into its buffer by then.
 */
import { writeFileSync } from "node:fs";
import { registerHooks } from "node:module";

const file = process.env["MODULES_FILE"];
if (file === undefined) throw new Error("MODULES_FILE names no file");
const urls = new Set<string>();

registerHooks({
  load(url, context, nextLoad) {
    urls.add(url);
    return nextLoad(url, context);
  },
});

process.once("exit", () => writeFileSync(file, [...urls].map((url) => `${url}\n`).join("")));
