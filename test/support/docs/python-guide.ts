/** The environments in which the guide's Python runs: packages by pip, and the client as its wheel has it. */
import { execFile } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { pythonEnvironment } from "../clients/python-client.ts";

const BUILD = join(import.meta.dirname, "../../../clients/python/build.py");
const BUILD_MS = 5 * 60_000;
const run = promisify(execFile);

/** What pages and most recipes import. */
export const PACKAGES = "openai==3.54.0 httpx==0.28.1 langchain-openai==1.7.4 llm==0.36";
/** It takes an earlier `openai` than the others. */
export const LLAMA_INDEX = "llama-index-llms-openai-like==0.8.1";

/** Builds the client's wheel. @returns its path: a wheel is a ZIP archive, from which Python imports. */
export async function buildClient(cacheDir: string): Promise<{ path: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-client-"));
  const env = { ...process.env, TOOLS: cacheDir };
  await run("python3", [BUILD, join(folder, "dist")], { env, timeout: BUILD_MS });
  const wheel = (await readdir(join(folder, "dist"))).find((file) => file.endsWith(".whl"));
  if (wheel === undefined) throw new Error(`${BUILD} made no wheel`);
  return {
    path: join(folder, "dist", wheel),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Python with these packages and the modules of `path`; programs that come with packages are on the PATH. */
export async function guideEnvironment(
  cacheDir: string,
  library: string,
  path?: string,
): Promise<NodeJS.ProcessEnv> {
  const env = await pythonEnvironment({ cacheDir, library });
  const packages = env["PYTHONPATH"]!;
  return {
    ...env,
    // Each page is a program of its own, and compiling the packages takes longer than running it.
    PYTHONDONTWRITEBYTECODE: "",
    PYTHONPYCACHEPREFIX: join(cacheDir, "python-compiled"),
    PATH: [join(packages, "bin"), env["PATH"]].join(delimiter),
    PYTHONPATH: path === undefined ? packages : [path, packages].join(delimiter),
  };
}
