/**
 * Lists what `docker build` would be sent: the files of a folder that .dockerignore lets through, by Docker's
 * own rules.
 */
import { readFile, readdir } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Ignore } from "@balena/dockerignore";

// Its types wrongly say that it is an ES module.
const dockerignore = createRequire(import.meta.url)("@balena/dockerignore") as (options: {
  ignorecase: boolean;
}) => Ignore;

export interface BuildContext {
  readonly root: string;
  /** Relative paths of files, with `/`. */
  readonly files: readonly string[];
}

/** Decides by the text of a .dockerignore whether a path is sent. */
export function sends(rules: string): (path: string) => boolean {
  const matcher = dockerignore({ ignorecase: false }).add(rules);
  return (path) => !matcher.ignores(path);
}

/** @throws Error if the folder has no .dockerignore */
export async function buildContext(root: string): Promise<BuildContext> {
  const rules = await readFile(join(root, ".dockerignore"), "utf8");
  const isSent = sends(rules);
  const exceptions = rules
    .split("\n")
    .flatMap((line) => (line.startsWith("!") ? [line.slice(1).trim()] : []));
  // Docker skips a folder that is kept out, unless a rule lets something in it through.
  const mayHold = (folder: string): boolean =>
    isSent(folder) || exceptions.some((rule) => rule.startsWith(`${folder}/`) || /[*?[]/.test(rule));
  const files: string[] = [];
  const walk = async (folder: string): Promise<void> => {
    for (const entry of await readdir(join(root, folder), { withFileTypes: true })) {
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (!entry.isDirectory()) files.push(...(isSent(path) ? [path] : []));
      else if (mayHold(path)) await walk(path);
    }
  };
  await walk("");
  return { root, files: files.toSorted() };
}

/**
 * Lists the files that a COPY of `source` takes. As in Docker, a missing source ends the build.
 */
export function filesOf({ files }: Pick<BuildContext, "files">, source: string): string[] {
  const path = source.replace(/^\.?\//, "").replace(/\/$/, "");
  const found = files.filter((file) => file === path || file.startsWith(`${path}/`));
  if (found.length === 0)
    throw new Error(
      `COPY ${source}: not found in the build context: .dockerignore keeps it out, or it does not exist`,
    );
  return found;
}
