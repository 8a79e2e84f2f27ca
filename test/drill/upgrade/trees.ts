/** Makes the source trees that the processes of an upgrade run from, each with its own packages. */
import { execFile } from "node:child_process";
import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { BrokenUpgrade } from "./broken.ts";
import { THIS_TREE, git } from "./versions.ts";

const run = promisify(execFile);
/** What a process reads from its tree. */
const READ_AT_RUN_TIME = ["src", "scripts", "models", "demo", "docs", "package.json", "package-lock.json"];
/** Sorts after all migrations that the version has. */
const BROKEN_MIGRATION = "src/db/migrations/9000_broken.sql";

interface Tree {
  readonly root: string;
  /** Where its packages come from, for the report. */
  readonly packages: "linked" | "copied" | "installed";
}

/** Makes the tree of a commit inside `folder`. */
export async function makeTreeOf(commit: string, folder: string): Promise<Tree> {
  const root = join(folder, "before");
  const archive = join(folder, "before.tar");
  await mkdir(root);
  await git("archive", "--format=tar", `--output=${archive}`, commit);
  await run("tar", ["-xf", archive, "-C", root]);
  await rm(archive);
  return { root, packages: await addPackages(root) };
}

/** Copies this tree as it is now and breaks the copy on purpose. @returns the root of the copy. */
export async function makeBrokenTree(broken: BrokenUpgrade, folder: string): Promise<string> {
  const root = join(folder, "broken");
  await mkdir(root);
  for (const name of READ_AT_RUN_TIME) await cp(join(THIS_TREE, name), join(root, name), { recursive: true });
  for (const { file, from, to } of broken.patches) {
    const path = join(root, "src", file);
    const source = await readFile(path, "utf8");
    if (!source.includes(from))
      throw new Error(`The broken build does not fit the code: ${file} lacks ${from}`);
    await writeFile(
      path,
      source.replaceAll(from, () => to),
    );
  }
  if (broken.migration !== undefined) await writeFile(join(root, BROKEN_MIGRATION), broken.migration);
  await addPackages(root);
  return root;
}

async function addPackages(root: string): Promise<Tree["packages"]> {
  if ((await lockedPackages(root)) === (await lockedPackages(THIS_TREE))) return copyPackages(root);
  await run("npm", ["ci", "--omit=dev", "--no-audit", "--no-fund", "--prefer-offline"], {
    cwd: root,
    maxBuffer: 64 * 1024 * 1024,
  });
  return "installed";
}

interface Lock {
  readonly packages: Readonly<
    Record<string, { readonly dev?: boolean; readonly version?: string; readonly integrity?: string }>
  >;
}

/**
 * Names the packages that a process runs on. Those for development alone, and the project's own, whose
 * versions differ between releases, are left out.
 */
async function lockedPackages(root: string): Promise<string> {
  const { packages } = JSON.parse(await readFile(join(root, "package-lock.json"), "utf8")) as Lock;
  return Object.entries(packages)
    .filter(([path, { dev = false }]) => path.includes("node_modules/") && !dev)
    .map(([path, { version, integrity }]) => `${path} ${version} ${integrity}`)
    .join("\n");
}

/**
 * Uses hard links, which cost neither space nor time but work only within one file system; otherwise it
 * copies.
 */
async function copyPackages(root: string): Promise<"linked" | "copied"> {
  const [from, to] = [join(THIS_TREE, "node_modules"), join(root, "node_modules")];
  const packages = await run("cp", ["-al", from, to]).then(
    () => "linked" as const,
    async () => {
      await rm(to, { recursive: true, force: true });
      await run("cp", ["-a", from, to]);
      return "copied" as const;
    },
  );
  // The folder holds workflow bundles, which each version makes for itself.
  await rm(join(to, ".cache"), { recursive: true, force: true });
  return packages;
}
