/**
 * Measures pages a second by kind of file, in turn with markitdown on the same files. Neither reads pictures.
 */
import { execFile, spawn } from "node:child_process";
import { readdir, readFile, stat } from "node:fs/promises";
import { homedir, loadavg } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { Command } from "commander";
import type { FileType } from "../../src/domain/file-type.ts";
import { createParserPool } from "../../src/parsers/process/child-process.ts";
import { detectFileKind } from "../../src/parsers/file-kind.ts";
import { parserProcesses, peakOf } from "../process-tree.ts";
import { machine, percentile, say } from "../report.ts";

const MARKITDOWN = "markitdown[pdf,docx,pptx,xlsx,xls,outlook]==0.1.8";
const KINDS: readonly FileType[] = ["PDF", "DOCX", "PPTX", "XLSX", "XLS", "EPUB", "HTML", "CSV", "MSG"];

interface Side {
  readonly name: string;
  readonly pid: () => Promise<number[]>;
  /** Seconds for the file; undefined if it could not be read. */
  convert(file: BenchFile): Promise<number | undefined>;
  close(): Promise<void>;
}

interface BenchFile {
  readonly path: string;
  readonly kind: FileType;
  pages: number;
}

/** Finds the Python of a virtual environment with markitdown, and makes the environment if there is none. */
async function pythonIn(folder: string): Promise<string> {
  const run = promisify(execFile);
  const python = join(folder, "bin", "python");
  const isThere = await run(python, ["-c", "import markitdown"]).then(
    () => true,
    () => false,
  );
  if (!isThere) {
    await run("python3", ["-m", "venv", folder]);
    await run(join(folder, "bin", "pip"), ["install", "--quiet", MARKITDOWN]);
  }
  return python;
}

function markitdown(python: string): Side {
  const child = spawn(python, [new URL("./parse-markitdown.py", import.meta.url).pathname], {
    stdio: ["pipe", "pipe", "ignore"],
  });
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    name: "markitdown",
    pid: async () => [child.pid ?? 0],
    async convert({ path }) {
      child.stdin.write(`${path}\n`);
      const answer = await answers.next();
      const [seconds, characters] = String(answer.value).split(" ").map(Number);
      return characters === undefined || characters === 0 ? undefined : seconds;
    },
    async close() {
      child.stdin.end();
      await new Promise((resume) => child.once("close", resume));
    },
  };
}

/** Parses in one process, as a worker does; the time includes the messages to it and back. */
function holdfast(): Side {
  const pool = createParserPool({ size: 1 });
  return {
    name: "holdfast",
    pid: () => parserProcesses(process.pid),
    async convert(file) {
      const started = performance.now();
      const parsed = await pool
        .parse({ fileType: file.kind, path: file.path, name: file.path })
        .catch(() => undefined);
      file.pages = parsed?.page_count ?? 1;
      return parsed === undefined ? undefined : (performance.now() - started) / 1_000;
    },
    close: () => pool.close(),
  };
}

async function findFiles(folder: string): Promise<BenchFile[]> {
  const files: BenchFile[] = [];
  for (const entry of (await readdir(folder, { recursive: true })).toSorted()) {
    const path = join(folder, entry);
    if (!(await stat(path)).isFile()) continue;
    const { fileType } = await detectFileKind(await readFile(path), entry);
    if (KINDS.includes(fileType)) files.push({ path, kind: fileType, pages: 1 });
  }
  return files;
}

interface Timed {
  readonly seconds: Map<string, number[]>;
  readonly megabytes: Map<FileType, number>;
}

/** Lets the sides read all files of each kind in turn, round by round; the first round only warms up. */
async function race(
  sides: readonly [Side, Side],
  files: readonly BenchFile[],
  rounds: number,
): Promise<Timed[]> {
  const timed = sides.map((): Timed => ({ seconds: new Map(), megabytes: new Map() }));
  for (let round = 0; round <= rounds; round++) {
    for (const kind of KINDS) {
      const own = files.filter((entry) => entry.kind === kind);
      for (const [index, side] of sides.entries())
        await readAll(side, own, round > 0 ? timed[index] : undefined);
    }
  }
  return timed;
}

async function readAll(side: Side, files: readonly BenchFile[], timed: Timed | undefined): Promise<void> {
  const memory = peakOf(side.pid);
  for (const file of files) {
    const took = await side.convert(file);
    if (took !== undefined) timed?.seconds.set(file.path, [...(timed.seconds.get(file.path) ?? []), took]);
  }
  const kind = files[0]?.kind;
  const peak = memory.stop();
  if (kind !== undefined) timed?.megabytes.set(kind, Math.max(timed.megabytes.get(kind) ?? 0, peak));
}

async function run(folder: string, { venv, rounds }: { venv: string; rounds: string }): Promise<void> {
  const files = await findFiles(folder);
  const sides = [holdfast(), markitdown(await pythonIn(venv))] as const;
  const load = loadavg()[0]!;
  const [ours, theirs] = (await race(sides, files, Number(rounds))) as [Timed, Timed];
  say(
    `${machine()}, load ${load.toFixed(1)} at the start, ${MARKITDOWN}; ` +
      `one process each, warm, median of ${rounds} rounds behind one to warm up`,
  );
  say("");
  say(
    "| kind | files that both read | only holdfast | only markitdown | pages | holdfast (pages/s) | " +
      "markitdown (pages/s) | times | holdfast (MB) | markitdown (MB) |",
  );
  say("|---|---|---|---|---|---|---|---|---|---|");
  for (const kind of KINDS) {
    const own = files.filter((file) => file.kind === kind);
    const both = own.filter((file) => ours.seconds.has(file.path) && theirs.seconds.has(file.path));
    if (both.length === 0) continue;
    const only = (one: Timed, other: Timed): number =>
      own.filter((file) => one.seconds.has(file.path) && !other.seconds.has(file.path)).length;
    const pages = both.reduce((sum, file) => sum + file.pages, 0);
    const speed = ({ seconds }: Timed): number =>
      pages / both.reduce((sum, file) => sum + percentile(seconds.get(file.path)!, 0.5), 0);
    const a = speed(ours);
    const b = speed(theirs);
    say(
      `| ${kind} | ${both.length} | ${only(ours, theirs)} | ${only(theirs, ours)} | ${pages} | ` +
        `${a.toFixed(0)} | ${b.toFixed(1)} | ${(Math.floor((a / b) * 10) / 10).toFixed(1)} | ` +
        `${ours.megabytes.get(kind)} | ${theirs.megabytes.get(kind)} |`,
    );
  }
  for (const side of sides) await side.close();
}

await new Command("bench:parse")
  .description("Pages a second by kind of file, in turn with markitdown on the same files.")
  .argument("<dir>", "a folder of files, with all below it")
  .option(
    "--venv <dir>",
    "a virtual environment with markitdown; made where there is none",
    join(homedir(), ".cache", "holdfast", "markitdown"),
  )
  .option("--rounds <n>", "that count, behind one to warm up", "3")
  .action(run)
  .parseAsync();
