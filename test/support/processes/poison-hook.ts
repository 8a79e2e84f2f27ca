/**
 * Is loaded into a worker, and by the worker into its parser processes, before their own code; documents that
 * carry the marks below then take their process down, and a request for embeddings may hang for ten minutes.
 */
import { registerHooks } from "node:module";

/** A sentence that kills the worker that processes a document with it. */
export const POISON = "This sentence kills the worker.";
/** Beginnings of file names that kill the process that parses them, by the signal that they send. */
export const DEADLY = { SIGSEGV: "segmentation-fault", SIGKILL: "out-of-luck" } as const;

/** The settings of a worker with it. */
export const WITH_POISON = { NODE_OPTIONS: `--import ${import.meta.url}` };

const SELF = JSON.stringify(import.meta.url);

/** Code that is inserted after a text that occurs once in the module. */
const PATCHES: ReadonlyArray<readonly [module: string, after: string, code: string]> = [
  [
    "/src/activities/pipeline/prepare-documents.ts",
    "const units = chunkedUnits(document.units);",
    `if (JSON.stringify(units).includes(${JSON.stringify(POISON)})) process.kill(process.pid, "SIGKILL");`,
  ],
  // A request that hangs goes on hanging, however long a busy machine takes to kill its worker. One that
  // times out leaves its document waiting, and whoever waits is in no process that could be killed.
  ["/src/models/provider/openai-client.ts", "export const PROVIDER_TIMEOUT_MS = ", "600_000 + "],
  ["/src/parsers/process/parser-child.ts", "const nodeArguments = [", `"--import", ${SELF}, `],
  // Lets a parser process read this folder.
  ["/src/parsers/process/sandbox/node-permissions.ts", "const paths = [", `new URL(".", ${SELF}), `],
  [
    "/src/parsers/process/child-serve.ts",
    'await send({ kind: "started" });',
    `for (const [signal, name] of Object.entries(${JSON.stringify(DEADLY)}))
       if (request.input.name?.startsWith(name)) {
         process.kill(process.pid, signal);
         for (;;);
       }`,
  ],
];

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    const patch = PATCHES.find(([module]) => url.endsWith(module));
    if (patch === undefined) return loaded;
    const [, after, code] = patch;
    const source = Buffer.from(loaded.source as Uint8Array).toString("utf8");
    if (source.split(after).length !== 2) throw new Error(`the anchor of the poison is not there: ${after}`);
    return { ...loaded, source: source.replace(after, () => `${after}\n${code}`) };
  },
});
