/**
 * Sends every file of a folder through the whole service and prints what became of each kind, how fast, and
 * how much memory its parsers took.
 */
import { readdir, readFile, stat } from "node:fs/promises";
import { loadavg } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import { mapAtMost } from "../../src/process/concurrency/settle-all.ts";
import { detectFileKind } from "../../src/parsers/file-kind.ts";
import { call, upload } from "../../test/support/clients/client.ts";
import setup from "../../test/support/run/global-setup.ts";
import { type Stack, startStack } from "../../test/support/stack/stack.ts";
import { KEYS, SPACES } from "../../test/support/tenants/tenants.ts";
import { parserProcesses, peakOf, residentMegabytes } from "../process-tree.ts";
import { machine, say } from "../report.ts";

interface Options {
  readonly timeout: string;
  readonly failures?: boolean;
}

interface Outcome {
  readonly path: string;
  readonly status: string;
  readonly code: string | undefined;
  readonly pages: number;
  readonly warnings: number;
}

interface KindRow {
  readonly kind: string;
  readonly outcomes: readonly Outcome[];
  readonly seconds: number;
  readonly parserMegabytes: number;
}

const UPLOADERS = 4;
const POLL_MS = 25;
/** Error codes that mean that the service is at fault, not the file. */
const OUR_FAULT = new Set(["internal", "worker_crashed"]);

async function filesByKind(folder: string): Promise<Map<string, string[]>> {
  const byKind = new Map<string, string[]>();
  for (const entry of await readdir(folder, { recursive: true })) {
    const path = join(folder, entry);
    if (!(await stat(path)).isFile()) continue;
    const { fileType } = await detectFileKind(await readFile(path), entry);
    byKind.set(fileType, [...(byKind.get(fileType) ?? []), path]);
  }
  return new Map([...byKind].toSorted(([a], [b]) => a.localeCompare(b)));
}

async function outcomeOf(stack: Stack, path: string, timeoutMs: number): Promise<Outcome> {
  const { id } = await upload(
    stack.url,
    KEYS.editor,
    SPACES.research,
    new Uint8Array(await readFile(path)),
    path.slice(path.lastIndexOf("/") + 1),
  );
  const until = Date.now() + timeoutMs;
  for (;;) {
    const { body } = await call(stack.url, KEYS.editor, "GET", `/data/${id}`);
    const { pipeline_status: status, error, warnings } = body.processing_state;
    if (status === "completed" || status === "failed" || Date.now() > until) {
      const run = await stack.database.db.owner.query<{ page_count: number | null }>(
        "select page_count from pipeline_runs where document_id = $1",
        [id],
      );
      const ended = status === "completed" || status === "failed";
      return {
        path,
        status: ended ? status : "hung",
        code: error?.code,
        pages: run.rows[0]?.page_count ?? 1,
        warnings: warnings?.length ?? 0,
      };
    }
    await new Promise((resume) => setTimeout(resume, POLL_MS));
  }
}

async function runKind(
  stack: Stack,
  kind: string,
  paths: readonly string[],
  timeoutMs: number,
): Promise<KindRow> {
  const memory = peakOf(() => parserProcesses(stack.worker.child.pid ?? 0));
  const started = performance.now();
  const outcomes: Outcome[] = [];
  await mapAtMost(UPLOADERS, paths, async (path) => {
    outcomes.push(await outcomeOf(stack, path, timeoutMs));
  });
  return { kind, outcomes, seconds: (performance.now() - started) / 1_000, parserMegabytes: memory.stop() };
}

function tableRow({ kind, outcomes, seconds, parserMegabytes }: KindRow): string {
  const completed = outcomes.filter((outcome) => outcome.status === "completed");
  const codes = new Map<string, number>();
  for (const { status, code } of outcomes)
    if (status !== "completed") codes.set(code ?? status, (codes.get(code ?? status) ?? 0) + 1);
  const pages = completed.reduce((sum, outcome) => sum + outcome.pages, 0);
  const failed = [...codes].map(([code, count]) => `${code} ${count}`).join(", ");
  const warnings = outcomes.reduce((sum, outcome) => sum + outcome.warnings, 0);
  return (
    `| ${kind} | ${outcomes.length} | ${completed.length} | ${failed} | ${warnings} | ` +
    `${seconds.toFixed(1)} | ${(pages / seconds).toFixed(1)} | ${parserMegabytes} |`
  );
}

function isFault({ status, code }: Outcome): boolean {
  return status === "hung" || (status === "failed" && (code === undefined || OUR_FAULT.has(code)));
}

function conditions(): string {
  const load = loadavg()[0]!.toFixed(1);
  return (
    `${machine()}, load ${load} at the start; ` +
    `${UPLOADERS} uploads at once, embeddings of a scripted provider`
  );
}

/** @returns false if a file hung, the worker ended, or a file failed without a code or through our fault */
async function runCorpus(
  stack: Stack,
  folder: string,
  { timeout, failures = false }: Options,
): Promise<boolean> {
  await upload(stack.url, KEYS.editor, SPACES.research, "warm up", "warm.md");
  const { child: worker } = stack.worker;
  const before = await residentMegabytes(worker.pid ?? 0);
  const memory = peakOf(async () => [worker.pid ?? 0]);
  say(
    `${conditions()}\n\n| kind | files | completed | failed, by code | warnings | seconds | pages/s | ` +
      "peak of a parser (MB) |\n|---|---|---|---|---|---|---|---|",
  );
  const all: Outcome[] = [];
  for (const [kind, paths] of await filesByKind(folder)) {
    const row = await runKind(stack, kind, paths, Number(timeout) * 1_000);
    all.push(...row.outcomes);
    say(tableRow(row));
  }
  const count = (status: string): number => all.filter((outcome) => outcome.status === status).length;
  const restarts = worker.exitCode === null && worker.signalCode === null ? 0 : 1;
  say(
    `\n${all.length} files: ${count("completed")} completed, ${count("hung")} hung, ${restarts} worker ` +
      `restarts; worker ${before} MB before, ${memory.stop()} MB at most`,
  );
  const failed = all.filter((outcome) => outcome.status !== "completed");
  if (failures) for (const { path, status, code } of failed) say(`${code ?? status}: ${path}`);
  return restarts === 0 && !all.some(isFault);
}

async function run(folder: string, options: Options): Promise<void> {
  const stop = await setup();
  const stack = await startStack();
  try {
    if (!(await runCorpus(stack, folder, options))) process.exitCode = 1;
  } finally {
    await stack.close();
    await stop();
  }
}

await new Command("corpus")
  .description(
    "Uploads every file of a folder, waits for all, and says what became of each kind. Fails where one " +
      "hung, ended the worker, or failed without a code.",
  )
  .argument("<dir>", "the folder, with all below it")
  .option("--timeout <seconds>", "of one file, after which it counts as hung", "900")
  .option("--failures", "name the files that failed")
  .action(run)
  .parseAsync();
