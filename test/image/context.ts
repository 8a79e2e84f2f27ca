/** What `docker build` would be sent: the files of a folder that .dockerignore lets through, by Docker's own rules. */
import { readFile, readdir } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Ignore } from "@balena/dockerignore";

// Its types say that it is an ES module, which it is not.
const dockerignore = createRequire(import.meta.url)("@balena/dockerignore") as (options: { ignorecase: boolean }) => Ignore;

export interface BuildContext {
  readonly root: string;
  /** Relative paths of files, with `/`. */
  readonly files: readonly string[];
}

/** Whether a path is sent, by the text of a .dockerignore. */
export function sends(rules: string): (path: string) => boolean {
  const matcher = dockerignore({ ignorecase: false }).add(rules);
  return (path) => !matcher.ignores(path);
}

/** @throws Error if the folder has no .dockerignore. */
export async function buildContext(root: string): Promise<BuildContext> {
  const isSent = sends(await readFile(join(root, ".dockerignore"), "utf8"));
  const files: string[] = [];
  const walk = async (folder: string): Promise<void> => {
    for (const entry of await readdir(join(root, folder), { withFileTypes: true })) {
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      // Large, and never sent: a file of each that were sent is told below.
      if (path === "node_modules" || path === ".git") {
        if (isSent(`${path}/any/file`)) throw new Error(`.dockerignore sends ${path}`);
      } else if (entry.isDirectory()) await walk(path);
      else if (isSent(path)) files.push(path);
    }
  };
  await walk("");
  return { root, files: files.toSorted() };
}

/** The files that a COPY of `source` takes; as in Docker, one that the context does not have ends the build. */
export function filesOf({ files }: Pick<BuildContext, "files">, source: string): string[] {
  const path = source.replace(/^\.?\//, "").replace(/\/$/, "");
  const found = files.filter((file) => file === path || file.startsWith(`${path}/`));
  if (found.length === 0) throw new Error(`COPY ${source}: not found in the build context: .dockerignore keeps it out, or it does not exist`);
  return found;
}
