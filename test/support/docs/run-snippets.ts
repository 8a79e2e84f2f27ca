/** Runs the snippets of a page as one program in each language: later ones have the earlier variables. */
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Language, Snippet } from "./guide-pages.ts";

const ROOT = join(import.meta.dirname, "../../..");
const RESOLVE = pathToFileURL(join(import.meta.dirname, "resolve-packages.ts")).href;
const RUN_MS = 120_000;
const MARK = "@@@ snippet";

export interface Place {
  /** What takes the place of texts of the guide, such as its address of the service. */
  readonly instead: Readonly<Record<string, string>>;
  readonly env: NodeJS.ProcessEnv;
}

interface Program {
  readonly file: string;
  readonly command: readonly string[];
  readonly begin: string;
  readonly mark: (number: number) => string;
  readonly write: (snippet: Snippet) => string;
}

/** Every answer ends a line, and one that refuses ends the script, unless the page says that it refuses. */
const STRICT = `set -euo pipefail
curl() { command curl --fail-with-body "$@" && echo; }`;
const refused = (code: string): string => `set +e
curl() { command curl -w '\\n@status %{http_code}\\n' "$@"; }
${code}
curl() { command curl --fail-with-body "$@" && echo; }
set -e`;

const PROGRAMS: Readonly<Record<Language, Program>> = {
  sh: {
    file: "page.sh",
    command: ["bash"],
    begin: STRICT,
    mark: (number) => `echo; echo '${MARK} ${number}'`,
    write: ({ code, answers }) => (answers === null ? code : refused(code)),
  },
  python: {
    file: "page.py",
    command: ["python3"],
    begin: "",
    mark: (number) => `print("\\n${MARK} ${number}", flush=True)`,
    write: ({ code }) => code,
  },
  ts: {
    file: "page.ts",
    command: [process.execPath, "--import", RESOLVE],
    begin: "",
    mark: (number) => `console.log("\\n${MARK} ${number}");`,
    write: ({ code }) => code,
  },
};

/**
 * Runs them in the folder of the repository.
 * @returns what each snippet printed.
 * @throws Error with the snippet's place in the guide and its last output, if one of them fails.
 */
export async function runSnippets(snippets: readonly Snippet[], place: Place): Promise<string[]> {
  const { file, command, begin, mark, write } = PROGRAMS[snippets[0]!.language];
  const parts = snippets.flatMap((snippet, number) => [mark(number), write(snippet)]);
  let text = [begin, ...parts, ""].join("\n");
  for (const [old, fresh] of Object.entries(place.instead)) text = text.replaceAll(old, fresh);
  const folder = await mkdtemp(join(tmpdir(), "holdfast-guide-"));
  try {
    await writeFile(join(folder, file), text);
    const [program, ...args] = [...command, join(folder, file)];
    const ended = await runProgram(program!, args, place.env);
    const printed = ended.stdout.split(new RegExp(`\\n?${MARK} \\d+\\n`)).slice(1);
    if (ended.code !== 0) {
      const { page, line } = snippets[Math.max(0, printed.length - 1)]!;
      const last = `${ended.stdout}\n${ended.stderr}`.slice(-3_000);
      throw new Error(`docs/guide/${page}.md:${line} ended with ${ended.code}:\n${last}`);
    }
    return printed;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

interface Ended {
  readonly code: number | string;
  readonly stdout: string;
  readonly stderr: string;
}

function runProgram(program: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<Ended> {
  const options = { cwd: ROOT, env, timeout: RUN_MS, maxBuffer: 32 * 1024 * 1024 };
  return new Promise((resolve) => {
    const child = execFile(program, [...args], options, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : (error.code ?? "a signal"), stdout, stderr });
    });
    // Some programs read a question from there.
    child.stdin?.end();
  });
}
