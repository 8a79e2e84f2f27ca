/** Loaded into a worker before its own code: a document that says so takes the process down while it is in hand. */
import { registerHooks } from "node:module";

/** What a poisonous document says. */
export const POISON = "This sentence kills the worker.";

const ANCHOR = "const units = chunkedUnits(document.units);";

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (!url.endsWith("/src/activities/prepare-documents.ts")) return loaded;
    const source = Buffer.from(loaded.source as Uint8Array).toString("utf8");
    if (source.split(ANCHOR).length !== 2) throw new Error("the anchor of the poison is not there");
    const poison = `if (JSON.stringify(units).includes(${JSON.stringify(POISON)})) process.kill(process.pid, "SIGKILL");`;
    return { ...loaded, source: source.replace(ANCHOR, () => `${ANCHOR}\n${poison}`) };
  },
});
