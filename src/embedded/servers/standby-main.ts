/**
 * A process of `npm run dev` that loads the packages and then waits for the program to run. Loading packages,
 * which no edit of `src/` changes, is most of what a program does until it is up.
 */
import { once } from "node:events";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

const SOURCES = join(import.meta.dirname, "../..");
/** Neither the API nor the worker loads what these import. */
const OTHERS = ["cli/**", "embedded/**", "workflows/**"];
const IMPORT = /^import (?!type )[^;]*? from "([^"]+)";$/gm;

// Ends together with the process that started it.
const orphaned = (): never => process.exit(0);
process.once("disconnect", orphaned);
let isAssigned = false;
const assignment = once(process, "message").finally(() => {
  isAssigned = true;
});

const packages = new Set<string>();
for (const path of globSync("**/*.ts", { cwd: SOURCES, exclude: OTHERS })) {
  const source = readFileSync(join(SOURCES, path), "utf8");
  for (const [, name] of source.matchAll(IMPORT)) if (!name!.startsWith(".")) packages.add(name!);
}
// If a package cannot be loaded, the program that needs it reports it.
for (const name of packages) await import(name).catch(() => undefined);

// The first bundle of the workflows takes twice as long as the next, so this one is made only to warm up.
if (process.argv[2] === "worker" && !isAssigned) {
  // oxlint-disable-next-line typescript/no-restricted-imports -- loaded only to warm it up
  const { DefaultLogger, bundleWorkflowCode } = await import("@temporalio/worker");
  const workflowsPath = join(SOURCES, "workflows/index.ts");
  await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger("ERROR") }).catch(() => undefined);
}

const [program] = (await assignment) as [string];
process.removeListener("disconnect", orphaned);
process.argv[1] = program;
await import(program);
