/**
 * Loaded by Node before a page's TypeScript: packages are those of this repository, wherever the page's file
 * is, and `@holdfast/client` is read from its sources.
 */
import { registerHooks } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const ROOT = pathToFileURL(join(import.meta.dirname, "../../../package.json")).href;
const CLIENT = pathToFileURL(join(import.meta.dirname, "../../../clients/typescript/src/index.ts")).href;

registerHooks({
  resolve(specifier, context, next) {
    if (specifier === "@holdfast/client") return next(CLIENT, context);
    const isPackage = /^[@a-z]/.test(specifier) && !/^(?:node|file|data):/.test(specifier);
    const isOfPage = context.parentURL?.endsWith("/page.ts") === true;
    return next(specifier, isPackage && isOfPage ? { ...context, parentURL: ROOT } : context);
  },
});
