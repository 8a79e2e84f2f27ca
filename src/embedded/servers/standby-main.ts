/**
 * A process of `npm run dev` that has loaded the packages and waits to be told which program to run. Most of what a program
 * computes until it is up is the loading of packages, which no edit of `src/` changes.
 */
import { once } from "node:events";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

const SOURCES = join(import.meta.dirname, "../..");
/** What these import, neither the API nor the worker loads. */
const OTHERS = ["cli/**", "embedded/**", "workflows/**"];
const IMPORT = /^import (?!type )[^;]*? from "([^"]+)";$/gm;

// It ends with the process that started it.
const orphaned = (): never => process.exit(0);
process.once("disconnect", orphaned);
let isTold = false;
const told = once(process, "message").finally(() => (isTold = true));

const packages = new Set<string>();
for (const path of globSync("**/*.ts", { cwd: SOURCES, exclude: OTHERS })) {
  const source = readFileSync(join(SOURCES, path), "utf8");
  for (const [, name] of source.matchAll(IMPORT)) if (!name!.startsWith(".")) packages.add(name!);
}
// One that cannot be loaded is a matter for the program that needs it.
for (const name of packages) await import(name).catch(() => undefined);

// A first bundle of the workflows takes twice as long as the next, so this one is thrown away.
if (process.argv[2] === "worker" && !isTold) {
  // oxlint-disable-next-line typescript/no-restricted-imports -- it is only warmed up, for the program that uses it
  const { DefaultLogger, bundleWorkflowCode } = await import("@temporalio/worker");
  const workflowsPath = join(SOURCES, "workflows/index.ts");
  await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger("ERROR") }).catch(() => undefined);
}

const [program] = (await told) as [string];
process.removeListener("disconnect", orphaned);
process.argv[1] = program;
await import(program);
