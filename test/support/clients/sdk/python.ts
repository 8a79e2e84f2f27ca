/** Runs the Python programs of this folder, with the official clients as `requirements.txt` has them. */
import { execFile, execFileSync } from "node:child_process";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { installedRequirements } from "../python-client.ts";
import { type Steps, stepsOf } from "./steps.ts";

/** Some of the clients' packages take no earlier one. */
const NEEDS_MINOR = 11;
const RUN_MS = 120_000;
/** Long, because the first run on a machine installs the clients. */
export const SET_UP_MS = 5 * 60_000;
const run = promisify(execFile);

function whyNoPython(): string | undefined {
  const needs = `needs Python 3.${NEEDS_MINOR} or newer`;
  try {
    const print = "import sys; print(*sys.version_info[:2])";
    const [major, minor] = execFileSync("python3", ["-c", print], { encoding: "utf8" })
      .split(" ")
      .map(Number);
    return major === 3 && minor! >= NEEDS_MINOR ? undefined : `${needs}, has ${major}.${minor}`;
  } catch {
    return needs;
  }
}

/** Why this machine cannot run the programs; undefined if it can. */
export const missingPython = whyNoPython();

export interface PythonProgram {
  /** A file of this folder. */
  readonly file: string;
  /** What the program reads as its only argument, in JSON. */
  readonly given: Readonly<Record<string, unknown>>;
  /** Further files of requirements, whose packages come before those of `requirements.txt`. */
  readonly before?: readonly string[];
}

/** Runs a program to its end. @throws Error with what it wrote if it broke off. */
export async function runProgram({ file, given, before = [] }: PythonProgram): Promise<Steps> {
  const cacheDir = process.env["HOLDFAST_TEST_CACHE_DIR"] ?? "";
  const folders: string[] = [];
  for (const name of [...before, "requirements.txt"])
    folders.push(await installedRequirements(cacheDir, join(import.meta.dirname, name)));
  const env = {
    PATH: process.env["PATH"],
    HOME: process.env["HOME"],
    PYTHONPATH: folders.join(delimiter),
    // To compile the clients takes longer than to run them.
    PYTHONPYCACHEPREFIX: join(cacheDir, "python-compiled"),
    // None of them may call home.
    OPENAI_AGENTS_DISABLE_TRACING: "1",
    LANGSMITH_TRACING: "false",
  };
  const program = [join(import.meta.dirname, file), JSON.stringify(given)];
  const { stdout } = await run("python3", program, { env, timeout: RUN_MS, maxBuffer: 64 * 1024 * 1024 });
  return stepsOf(stdout.split("\n").filter((line) => line !== ""));
}
