/**
 * A preload (`node --import`): prints the URL of each module that the process has loaded, a line each, when
 * it exits.
 */
import { registerHooks } from "node:module";

const urls = new Set<string>();

registerHooks({
  load(url, context, nextLoad) {
    urls.add(url);
    return nextLoad(url, context);
  },
});

process.once("exit", () => {
  process.stdout.write([...urls].map((url) => `${url}\n`).join(""));
});
