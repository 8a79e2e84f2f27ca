/**
 * Builds the image's file system in a folder, step by step as the Dockerfile says, with the system of this
 * machine in place of the base image.
 */
import { copyFile, cp, link, mkdir, readFile, readdir, symlink, readlink } from "node:fs/promises";
import { existsSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { type BuildContext, filesOf } from "./context.ts";
import { runContainer } from "./container.ts";
import type { Stage, Step } from "./dockerfile.ts";

export interface Assembly {
  readonly context: BuildContext;
  /** A new folder. */
  readonly folder: string;
  /**
   * True runs `npm ci`; false links the packages that it would install, by the lock file, from this tree.
   */
  readonly installs: boolean;
}

interface Named {
  readonly stage: Stage;
  readonly root: string;
}

/** @returns the root folder of the last stage */
export async function assemble(stages: readonly Stage[], assembly: Assembly): Promise<string> {
  const done: Named[] = [];
  for (const [index, stage] of stages.entries()) {
    const root = join(assembly.folder, String(index));
    await mkdir(root + stage.workdir, { recursive: true });
    for (const step of stage.steps)
      await (step.kind === "copy"
        ? copy(step, { stage, root }, done, assembly)
        : run(step, { stage, root }, assembly));
    done.push({ stage, root });
  }
  return done.at(-1)!.root;
}

type Copy = Extract<Step, { kind: "copy" }>;

async function copy(
  { from, sources, target }: Copy,
  { stage, root }: Named,
  done: readonly Named[],
  { context }: Assembly,
): Promise<void> {
  const isFolder = target.endsWith("/");
  const into = posix.resolve(stage.workdir, target);
  if (from !== undefined) {
    const source = done.find((one) => one.stage.name === from);
    if (source === undefined) throw new Error(`COPY --from=${from}: no such stage`);
    for (const path of sources) await linkTree(source.root + path, root + into, () => true);
    return;
  }
  for (const source of sources) {
    for (const file of filesOf(context, source)) {
      // COPY puts a file into a folder under its own name, but only the content of a folder.
      const rest =
        file === source
          ? isFolder
            ? `/${posix.basename(file)}`
            : ""
          : file.slice(source.replace(/\/$/, "").length);
      const path = root + into + rest;
      await mkdir(dirname(path), { recursive: true });
      await copyFile(join(context.root, file), path);
    }
  }
}

async function run(
  { command }: Extract<Step, { kind: "run" }>,
  { stage, root }: Named,
  { context, installs }: Assembly,
): Promise<void> {
  if (command.startsWith("npm ci ") && !installs)
    return installFrom(context.root, root + stage.workdir, command);
  const npm = {
    HOME: process.env["HOME"] ?? "/root",
    npm_config_cache: "/tmp/npm",
    npm_config_update_notifier: "false",
  };
  await runContainer(["/bin/sh", "-c", command], {
    root,
    workdir: stage.workdir,
    env: { ...npm, ...registry(), ...stage.env },
    isBuild: true,
  });
}

/** Passes npm's registry settings of this machine as variables, because an image has no such files. */
function registry(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) =>
      /^npm_config_(registry|cafile|proxy|https_proxy)$/i.test(name),
    ),
  ) as Record<string, string>;
}

interface Locked {
  readonly dev?: boolean;
  readonly link?: boolean;
  readonly resolved?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/**
 * Makes hard links to the installed packages that the lock file does not mark as needed for development only;
 * with `--workspaces=false` to those of them that no workspace alone needs.
 */
async function installFrom(from: string, to: string, command: string): Promise<void> {
  if (!/ --omit=dev( |$)/.test(command)) throw new Error(`the tests of the image do not know: ${command}`);
  const { packages } = JSON.parse(await readFile(join(to, "package-lock.json"), "utf8")) as {
    packages: Record<string, Locked>;
  };
  const wanted = / --workspaces=false( |$)/.test(command) ? neededByRoot(packages) : undefined;
  for (const [path, { dev, link: isLink, resolved }] of Object.entries(packages)) {
    if (!path.startsWith("node_modules/") || dev === true || !existsSync(join(from, path))) continue;
    if (wanted !== undefined && !wanted.has(path)) continue;
    await mkdir(dirname(join(to, path)), { recursive: true });
    if (isLink === true) await symlink(posix.relative(posix.dirname(path), resolved!), join(to, path));
    else await linkTree(join(from, path), join(to, path), (name) => name !== "node_modules");
  }
}

/**
 * Follows dependencies from the root as Node looks them up: beside the package, then in each folder above.
 */
function neededByRoot(packages: Readonly<Record<string, Locked>>): ReadonlySet<string> {
  const needed = new Set<string>();
  const open = [""];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    const { dependencies, optionalDependencies, peerDependencies } = packages[path]!;
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })) {
      const found = placesAbove(path)
        .map((place) => posix.join(place, "node_modules", name))
        .find((place) => place in packages);
      if (found === undefined || needed.has(found)) continue;
      needed.add(found);
      open.push(found);
    }
  }
  return needed;
}

function placesAbove(path: string): string[] {
  const at = path.lastIndexOf("/node_modules/");
  return path === "" ? [""] : [path, ...placesAbove(at < 0 ? "" : path.slice(0, at))];
}

async function linkTree(from: string, to: string, isWanted: (name: string) => boolean): Promise<void> {
  await mkdir(to, { recursive: true });
  for (const entry of await readdir(from, { withFileTypes: true })) {
    if (!isWanted(entry.name)) continue;
    const source = join(from, entry.name);
    const target = join(to, entry.name);
    if (entry.isDirectory()) await linkTree(source, target, isWanted);
    else if (entry.isSymbolicLink()) await symlink(await readlink(source), target);
    else await link(source, target).catch(() => cp(source, target));
  }
}
