/**
 * Finds the commit that an upgrade starts from: the one that was named, or the last one of the version
 * before.
 */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

/** The root of the tree that this drill belongs to. */
export const THIS_TREE = join(import.meta.dirname, "../../..");
/** Stands for the last commit whose package.json has another version than this tree's. */
export const PREVIOUS = "previous";

export interface Version {
  readonly commit: string;
  /** The version in its package.json. */
  readonly number: string;
}

/** Runs git in this tree and returns what it printed. */
export async function git(...args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)("git", ["-C", THIS_TREE, ...args], {
    maxBuffer: 64 * 1024 * 1024,
  });
  return stdout.trim();
}

export async function thisVersion(): Promise<string> {
  return versionOf(await readFile(join(THIS_TREE, "package.json"), "utf8"));
}

/** @throws Error that says what is missing: git, the history, or the commit. */
export async function findVersion(ref: string): Promise<Version> {
  await git("rev-parse", "--git-dir").catch((error: unknown) => {
    throw new Error(
      "An upgrade starts from an earlier commit, and this folder is no git checkout: clone the repository.",
      { cause: error },
    );
  });
  const revision = ref === PREVIOUS ? await revisionBefore(await thisVersion()) : ref;
  const commit = await git("rev-parse", "--verify", "--quiet", `${revision}^{commit}`).catch(() => undefined);
  if (commit === undefined)
    throw new Error(`There is no commit ${revision} in this clone. ${await howToComplete()}`);
  return { commit, number: await versionAt(commit) };
}

async function revisionBefore(current: string): Promise<string> {
  const commits = (await git("log", "--first-parent", "--format=%H", "--", "package.json"))
    .split("\n")
    .filter((line) => line !== "");
  const revision = await lastOfAnotherVersion(current, commits, versionAt);
  if (revision === undefined)
    throw new Error(`No commit of this clone has another version than ${current}. ${await howToComplete()}`);
  return revision;
}

/**
 * Finds the last commit before the version became `current`, and returns it as a revision.
 * @param commits those that changed package.json, newest first.
 */
export async function lastOfAnotherVersion(
  current: string,
  commits: readonly string[],
  versionAtCommit: (commit: string) => Promise<string>,
): Promise<string | undefined> {
  let firstOfCurrent = "";
  for (const commit of commits) {
    // The version was raised in the working tree and is not committed yet.
    if ((await versionAtCommit(commit)) !== current)
      return firstOfCurrent === "" ? "HEAD" : `${firstOfCurrent}^`;
    firstOfCurrent = commit;
  }
  return undefined;
}

async function versionAt(commit: string): Promise<string> {
  return versionOf(await git("show", `${commit}:package.json`));
}

function versionOf(manifest: string): string {
  return (JSON.parse(manifest) as { version: string }).version;
}

async function howToComplete(): Promise<string> {
  const isShallow = (await git("rev-parse", "--is-shallow-repository")) === "true";
  return isShallow
    ? "Its history was cut off: `git fetch --unshallow` brings the rest."
    : "Name one that it has: `npm run drill -- --upgrade REF`.";
}
