/** One step of the crash matrix: bring a process to a point, let it die there, restart it, and look whether everything that was accepted holds. */
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { call, upload } from "../support/client.ts";
import { makePdf, truncated } from "../support/make-documents.ts";
import type { Stack } from "../support/stack.ts";
import { KEYS, SPACES } from "../support/tenants.ts";
import { until } from "../support/until.ts";
import { findFaults, findOrphans } from "./checks.ts";
import type { DrillParts, Outage } from "./outages.ts";
import type { Point } from "./points.ts";

const HOOKS = new URL("hooks.ts", import.meta.url).href;
/** Everything has ended this long after the restart. */
const BOUND_MS = 90_000;

export interface StepResult {
  readonly point: string;
  readonly fault: string;
  readonly accepted: number;
  readonly completed: number;
  readonly failed: number;
  readonly seconds: number;
  readonly faults: readonly string[];
}

interface StepOptions {
  readonly documents: number;
  /** The name of a build that is broken on purpose. */
  readonly broken?: string;
}

let serial = 0;

/** A load of mixed documents; the ids of those that were accepted. A request that fails is no accepted document. */
async function uploadMixed(stack: Stack, count: number): Promise<string[]> {
  const send = async (index: number): Promise<string | undefined> => {
    const name = `drill-${serial++}`;
    const text = `# ${name}\n\n${`What ${name} says about the matter in hand. `.repeat(20 + (index % 5) * 40)}`;
    const pdf = (): Buffer => makePdf([[`${name} page one`, "Words of the first page."], [`${name} page two`]]);
    const [content, filename] =
      index % 5 === 3
        ? ([new Uint8Array(pdf()), `${name}.pdf`] as const)
        : index % 5 === 4
          ? ([new Uint8Array(truncated(pdf())), `${name}.pdf`] as const)
          : ([text, `${name}.md`] as const);
    return upload(stack.url, KEYS.editor, SPACES.research, content, filename).then(
      (document: { id: string }) => document.id,
      () => undefined,
    );
  };
  const ids = await Promise.all(Array.from({ length: count }, (_, index) => send(index)));
  return ids.filter((id) => id !== undefined);
}

/** Runs the step on a stack whose processes it restarts; leaves the stack running as it should be. */
export async function runStep(stack: Stack, point: Point, options: StepOptions): Promise<StepResult> {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-drill-"));
  const env = { NODE_OPTIONS: `--import ${HOOKS}`, DRILL_FOLDER: folder, ...(options.broken === undefined ? {} : { DRILL_BROKEN: options.broken }) };
  const restart = async (extra: Record<string, string>): Promise<void> => {
    await Promise.all([stack.api.kill("SIGKILL"), stack.worker.kill("SIGKILL")]);
    stack.restartWorker(extra);
    await stack.restartApi(extra);
  };
  try {
    const victims = point.under === "deletion" ? await uploadMixed(stack, options.documents) : [];
    if (victims.length > 0) await allEnded(stack, victims);
    await restart({ ...env, DRILL_POINT: point.name });
    const started = performance.now();
    const accepted = point.under === "uploads" ? await uploadMixed(stack, options.documents) : victims;
    if (point.under === "deletion") for (const id of victims) await call(stack.url, KEYS.editor, "DELETE", `/data/${id}`).catch(() => undefined);
    const dying = point.process === "api" ? stack.api : stack.worker;
    await until(`the point "${point.name}" is reached`, () => existsSync(join(folder, "reached")));
    await until("the process is dead", () => dying.child.exitCode !== null || dying.child.signalCode !== null);
    if (point.process === "api") await stack.restartApi(options.broken === undefined ? {} : env);
    else stack.restartWorker(options.broken === undefined ? {} : env);
    return await outcome(stack, point, { accepted, started, broken: options.broken });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Load while a part is away for `awayMs`; then everything that was accepted must hold. */
export async function runOutage(parts: DrillParts, outage: Outage, { documents, awayMs }: { documents: number; awayMs: number }): Promise<StepResult> {
  const { stack } = parts;
  const started = performance.now();
  const load = Array.from({ length: Math.ceil(documents / 10) }, (_, wave) => pause(wave * (awayMs / (documents / 10))).then(() => uploadMixed(stack, 10)));
  await pause(awayMs / 4);
  await outage.begin(parts);
  await pause(awayMs);
  await outage.end(parts);
  const accepted = (await Promise.all(load)).flat();
  const result = await outcome(stack, { name: `load of ${documents} mixed documents`, under: "uploads" }, { accepted, started, broken: undefined });
  return { ...result, fault: `${outage.name} for ${awayMs / 1_000} s` };
}

const pause = (ms: number): Promise<void> => new Promise((resume) => setTimeout(resume, ms));

interface Passed {
  readonly accepted: readonly string[];
  readonly started: number;
  readonly broken: string | undefined;
}

async function outcome(stack: Stack, point: Pick<Point, "name" | "under"> & Partial<Point>, { accepted, started, broken }: Passed): Promise<StepResult> {
  const late = await holds(stack);
  const { rows } = await stack.database.db.owner.query<{ status: string; count: number }>(
    "select status, count(*)::int as count from pipeline_runs where document_id = any($1) group by status",
    [accepted],
  );
  const count = (status: string): number => rows.find((row) => row.status === status)?.count ?? 0;
  const lost = point.under === "uploads" ? accepted.length - rows.reduce((sum, row) => sum + row.count, 0) : 0;
  return {
    point: point.name,
    fault: `kill -9 ${point.process ?? ""}${broken === undefined ? "" : `, ${broken}`}`,
    accepted: accepted.length,
    completed: count("completed"),
    failed: count("failed"),
    seconds: (performance.now() - started) / 1_000,
    faults: [...late, ...(lost > 0 ? [`accepted documents are lost (${lost})`] : [])],
  };
}

async function allEnded(stack: Stack, ids: readonly string[]): Promise<void> {
  await until(
    "the documents have ended",
    async () => {
      const { rowCount } = await stack.database.db.owner.query(
        "select from pipeline_runs where document_id = any($1) and status in ('queued', 'parsing', 'chunking', 'embedding')",
        [ids],
      );
      return rowCount === 0;
    },
    BOUND_MS,
  );
}

/** The faults that are left when the bound is over; none as soon as none are found. */
async function holds(stack: Stack): Promise<string[]> {
  let faults: string[] = [];
  const look = async (): Promise<boolean> => {
    const { owner } = stack.database.db;
    faults = [...(await findFaults(owner)), ...(await findOrphans(owner, join(stack.dataDir, "objects"))).map((name) => `an object that nothing names: ${name}`)];
    return faults.length === 0;
  };
  await until("everything holds", look, BOUND_MS).catch(() => undefined);
  return faults;
}
