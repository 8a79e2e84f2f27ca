/** The workflow bundle: an image brings it; else it is built once for its sources and cached. */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, readdir, rename, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import type { WorkflowBundleOption } from "@temporalio/worker";

const ROOT = join(import.meta.dirname, "../..");
const BUILT = join(ROOT, "build/workflow-bundle.js");
const WORKFLOWS = join(ROOT, "src/workflows");
export const WORKFLOW_INTERCEPTORS = [join(WORKFLOWS, "sealing.ts"), join(WORKFLOWS, "tracing.ts")];
/** Turns failure messages and stacks into payloads, to encrypt them; also for data converters. */
export const FAILURE_CONVERTER_PATH = join(import.meta.dirname, "failure-converter.cjs");
/** The timings of this process: the workflows have the same. */
const TIMINGS = createRequire(import.meta.url).resolve("#timings");
/** In node_modules, so that it is as well protected as the packages there, and is removed with them. */
const CACHE = join(ROOT, "node_modules/.cache/holdfast");

/** The bundle of all workflows. Takes a second or two after the sources have changed. */
export async function workflowBundle(): Promise<WorkflowBundleOption> {
  if (existsSync(BUILT)) return { codePath: BUILT };
  const kept = join(CACHE, `workflows-${await fingerprint()}.js`);
  if (existsSync(kept)) return { codePath: kept };
  const code = await buildBundle();
  // If the cache cannot be written, the next start builds the bundle again.
  const isKept = await replaceFile(kept, code).then(
    () => true,
    () => false,
  );
  return isKept ? { codePath: kept } : { code };
}

/** Writes the bundle for an image. Processes of this folder use it then, even after sources change. */
export async function writeBundle(): Promise<string> {
  await replaceFile(BUILT, await buildBundle());
  return BUILT;
}

async function buildBundle(): Promise<string> {
  const { DefaultLogger, bundleWorkflowCode } = await import("@temporalio/worker");
  const { code } = await bundleWorkflowCode({
    workflowsPath: join(WORKFLOWS, "index.ts"),
    workflowInterceptorModules: WORKFLOW_INTERCEPTORS,
    failureConverterPath: FAILURE_CONVERTER_PATH,
    logger: new DefaultLogger("ERROR"),
    webpackConfigHook: (config) => ({
      ...config,
      resolve: {
        ...config.resolve,
        alias: Object.assign({}, config.resolve?.alias, { "#timings": TIMINGS }),
      },
    }),
  });
  return code;
}

/** A hash of what the bundle has: workflows, domain, timings, failure converter, packages' versions. */
async function fingerprint(): Promise<string> {
  const hash = createHash("sha256");
  const folders = await Promise.all(
    [WORKFLOWS, join(ROOT, "src/domain")].map((folder) =>
      readdir(folder, { recursive: true, withFileTypes: true }),
    ),
  );
  const sources = folders
    .flat()
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  for (const path of [
    ...sources.toSorted(),
    FAILURE_CONVERTER_PATH,
    TIMINGS,
    join(ROOT, "package-lock.json"),
  ])
    hash.update(`${relative(ROOT, path)}\0`).update(await readFile(path));
  return hash.digest("hex").slice(0, 16);
}

/** Writes the file atomically, so that two processes may do it at once. */
async function replaceFile(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const draft = `${path}.${process.pid}`;
  await writeFile(draft, text);
  await rename(draft, path);
}
