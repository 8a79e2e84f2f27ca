/**
 * `npm run drill` prints the crash matrix as a table. It exits with 1 if a promise does not hold or a broken
 * build is not caught.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import { startParts } from "../support/run/global-setup.ts";
import { seeded } from "../support/seeded.ts";
import { startIssuer } from "../support/servers/issuer.ts";
import { startProcessesWith } from "../support/stack/processes.ts";
import { startStack } from "../support/stack/stack.ts";
import { TENANTS } from "../support/tenants/tenants.ts";
import { type CellResult, type Drill, openDrill } from "./drill.ts";
import { startReceiver } from "./events/receiver.ts";
import { watchEvents } from "./events/watch.ts";
import { type Fault, FAULTS } from "./faults.ts";
import { DRILL_STORES } from "./objects.ts";
import { BROKEN, POINTS, type Point } from "./points.ts";
import { BROKEN_UPGRADES } from "./upgrade/broken.ts";
import { drillStarved } from "./starved.ts";
import { drillUpgrade } from "./upgrade/upgrade.ts";
import { PREVIOUS } from "./upgrade/versions.ts";

interface Options {
  readonly documents: string;
  readonly only?: string;
  readonly fault?: string;
  readonly broken?: string;
  readonly long?: boolean;
  readonly oneOfEach?: boolean;
  readonly rounds: string;
  readonly repeatLate?: boolean;
  readonly seed: string;
  readonly store: string;
  readonly shard: string;
  readonly json?: boolean;
  readonly upgrade?: string | true;
  readonly starved?: boolean;
  readonly minutes: string;
}

const HOOKS = new URL("hooks.ts", import.meta.url).href;
/** Everything must hold this long after a fault is over, in milliseconds. */
const BOUND_MS = 60_000;
/** With `--repeat-late`, what holds in this time after the bound is late, and what does not is wrong. */
const LATE_MS = 180_000;
/** Waits until other work has ended, so that it does not hide what a broken build does. */
const SETTLE_MS = 2_000;
/** The value of `--only` that selects the random faults. */
const RANDOM = "random";
const RANDOM_DOCUMENTS = 200;
const RANDOM_AWAY_MS = 6_000;

/** Prints one line of JSON for each cell, and nothing else, to standard output. */
let isJson = false;
const print = (line: string): void => void process.stdout.write(`${line}\n`);
const say = (line: string): void => (isJson ? undefined : print(line));

interface Cell {
  readonly point: Point;
  readonly fault: Fault;
}

const faultNamed = (name: string): Fault => FAULTS.find((fault) => fault.name === name)!;

/**
 * Lists one fault for each point, or with `--long` every fault at every point. A shard takes every n-th
 * point.
 */
function cellsOf({ long, oneOfEach, only, fault, shard }: Options): Cell[] {
  const [part = 1, parts = 1] = shard.split("/").map(Number);
  const all = POINTS.filter((_point, index) => index % parts === part - 1).flatMap((point) =>
    (long || fault !== undefined ? FAULTS : [faultNamed(point.short)]).map((one) => ({ point, fault: one })),
  );
  return (oneOfEach ? ofEachKind(all) : all).filter(
    (cell) =>
      (only === undefined || cell.point.name.includes(only)) &&
      (fault === undefined || cell.fault.name.includes(fault)),
  );
}

/** Each kind of work and each fault, in few cells: what few cells have comes first, and brings another. */
function ofEachKind(cells: readonly Cell[]): Cell[] {
  const kindsOf = ({ point, fault }: Cell): string[] => [point.load, fault.name];
  const having = (kind: string): Cell[] => cells.filter((cell) => kindsOf(cell).includes(kind));
  const chosen: Cell[] = [];
  const isSeen = (kind: string): boolean => chosen.some((cell) => kindsOf(cell).includes(kind));
  const kinds = [...new Set(cells.flatMap(kindsOf))];
  for (const kind of kinds.toSorted((one, other) => having(one).length - having(other).length))
    if (!isSeen(kind))
      chosen.push(having(kind).find((cell) => !kindsOf(cell).some(isSeen)) ?? having(kind)[0]!);
  return cells.filter((cell) => chosen.includes(cell));
}

/** Starts everything afresh with the given build, runs `work` and returns its result. */
async function withDrill<T>(
  options: Options,
  broken: string | undefined,
  work: (drill: Drill) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-drill-"));
  const [issuer, receiver] = await Promise.all([startIssuer(), startReceiver()]);
  const settings = {
    OIDC_ISSUER: issuer.url,
    OIDC_AUDIENCE: issuer.audience,
    WEBHOOK_ALLOW_HOSTS: "127.0.0.1",
    NODE_OPTIONS: `--import ${HOOKS}`,
    DRILL_FOLDER: folder,
    ...(broken === undefined ? {} : { DRILL_BROKEN: broken }),
  };
  const server = await startParts({ isDurable: true });
  const store = await DRILL_STORES[options.store]!();
  const stack = await startStack({ keepsWorkflows: true, env: { ...settings, ...store.env } });
  const parts = {
    stack,
    objects: store.objectsOf(stack, folder),
    receiver,
    folder,
    settings,
    killPostgres: () => server.killPostgres(),
    restartPostgres: () => server.restartPostgres(),
  };
  const events = await watchEvents(stack, { receiver, token: await issuer.token(TENANTS.subject("ada")) });
  const limits = {
    documents: Number(options.documents),
    boundMs: BOUND_MS,
    lateMs: options.repeatLate === true ? LATE_MS : 0,
  };
  const drill = await openDrill(parts, { ...limits, events });
  try {
    return await work(drill);
  } finally {
    const { delivered, again } = events.counts();
    say(`\nThe receiver was given ${delivered} events, ${again} times one of them again.`);
    await Promise.all([drill.close(), events.close()]);
    await stack.close();
    await Promise.all([store.stop(), issuer.close(), receiver.die()]);
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Prints each result as soon as it is known. @returns whether every promise held. */
async function report(results: AsyncIterable<CellResult>): Promise<boolean> {
  let areHeld = true;
  const sum = { embedded: 0, again: 0, inFlight: 0 };
  for await (const result of results) {
    const { point, fault, accepted, seconds, repeats, faults, isLate } = result;
    const verdict = isLate ? "late; repeated below" : "holds";
    if (isJson) print(JSON.stringify({ ...result, holds: faults.length === 0 }));
    areHeld &&= faults.length === 0;
    for (const key of ["embedded", "again", "inFlight"] as const) sum[key] += repeats[key];
    const texts = `${repeats.embedded}; ${repeats.again} of ${repeats.inFlight}`;
    say(
      `| ${point} | ${fault} | ${accepted} | ${texts} | ${seconds.toFixed(1)} | ` +
        `${faults.length === 0 ? verdict : faults.join("; ")} |`,
    );
  }
  say(
    `\nThe provider embedded ${sum.embedded} texts, ${sum.again} of them again; the faults allowed for ` +
      `${sum.inFlight}.`,
  );
  return areHeld;
}

async function* matrix(drill: Drill, options: Options): AsyncGenerator<CellResult> {
  const late: Cell[] = [];
  for (const cell of cellsOf(options)) {
    const result = await drill.cell(cell.point, cell.fault);
    if (result.isLate) late.push(cell);
    yield result;
  }
  for (const { point, fault } of late) {
    yield inTime(await drill.cell(point, fault));
  }
  if (!options.long || (options.only !== undefined && options.only !== RANDOM)) return;
  if (!options.shard.startsWith("1/")) return;
  const random = seeded(Number(options.seed));
  const faults = FAULTS.filter(({ name }) => name.includes(options.fault ?? ""));
  for (let round = 0; round < Number(options.rounds); round += 1) {
    const fault = faults[Math.floor(random() * faults.length)]!;
    const how = { documents: RANDOM_DOCUMENTS, awayMs: 1_000 + random() * RANDOM_AWAY_MS };
    yield inTime(await drill.random(fault, how));
  }
}

/** A result that has no further try: being late is a fault. */
function inTime(result: CellResult): CellResult {
  if (!result.isLate) return result;
  return { ...result, isLate: false, faults: [`everything held, but not within ${BOUND_MS / 1_000} s`] };
}

async function* brokenBuild(drill: Drill, name: string): AsyncGenerator<CellResult> {
  const { point, fault } = BROKEN[name]!;
  const result = await drill.cell(
    POINTS.find((one) => one.name === point)!,
    faultNamed(fault),
    SETTLE_MS,
  );
  yield { ...result, fault: `${result.fault}, ${name}` };
}

/** @returns whether every promise held. */
async function drillRight(options: Options): Promise<boolean> {
  const areHeld = await withDrill(options, undefined, (drill) => report(matrix(drill, options)));
  say(areHeld ? "\nEvery promise held." : "\nA promise did not hold.");
  return areHeld;
}

/** @returns whether every broken build was caught. */
async function drillBroken(options: Options, builds: readonly string[]): Promise<boolean> {
  let areCaught = true;
  for (const build of builds) {
    const isCaught = !(await withDrill(options, build, (drill) => report(brokenBuild(drill, build))));
    say(`\n"${build}" was ${isCaught ? "caught" : "not caught"}.\n`);
    areCaught &&= isCaught;
  }
  return areCaught;
}

/** Runs the other drill, in which this version replaces an earlier one. */
async function runUpgrade(ref: string, { broken, json }: Options): Promise<void> {
  const names = Object.keys(BROKEN_UPGRADES);
  if (broken !== undefined && !names.includes(broken))
    throw new Error(`Broken upgrades: ${names.join(", ")}`);
  process.exitCode = (await drillUpgrade({ ref, broken, isJson: json === true })) ? 0 : 1;
}

async function runStarved({ minutes }: Options): Promise<void> {
  process.exitCode = (await drillStarved({ minutes: Number(minutes), say: print })) ? 0 : 1;
}

async function run(options: Options): Promise<void> {
  if (options.upgrade !== undefined)
    return runUpgrade(options.upgrade === true ? PREVIOUS : options.upgrade, options);
  const { broken, long, seed } = options;
  isJson = options.json === true;
  startProcessesWith("--no-memory-reducer");
  if (!(options.store in DRILL_STORES)) throw new Error(`Stores: ${Object.keys(DRILL_STORES).join(", ")}`);
  if (broken !== undefined && broken !== "all" && !(broken in BROKEN))
    throw new Error(`Broken builds: ${Object.keys(BROKEN).join(", ")}, or all`);
  say(
    `${cpus().length} × ${cpus()[0]?.model.trim()}, Node ${process.version}; everything on this ` +
      `machine; bound ${BOUND_MS / 1_000} s${long ? `; seed ${seed}` : ""}\n`,
  );
  say(
    "| step at which a process is held | fault | documents accepted | texts embedded; again, of at " +
      "most | seconds from its end until all held | |",
  );
  say("|---|---|---|---|---|---|");
  const isGood =
    broken === undefined
      ? await drillRight(options)
      : await drillBroken(options, broken === "all" ? Object.keys(BROKEN) : [broken]);
  process.exitCode = isGood ? 0 : 1;
}

await new Command("drill")
  .description(
    "Lets every fault begin at every step of every workflow, and checks that nothing is lost, doubled " +
      "or stuck.",
  )
  .option("--documents <n>", "documents of each step", "5")
  .option(
    "--long",
    "every fault at every step, then random faults under 200 documents; without it one fault a step",
  )
  .option("--one-of-each", "only as many steps as it takes to have each kind of work and each fault")
  .option("--rounds <n>", "random faults of the long form", "5")
  .option("--seed <n>", "of the random faults", String(Date.now() % 1_000_000))
  .option(
    "--shard <k/n>",
    "the k-th of n parts, for several runs side by side; random faults are in the first",
    "1/1",
  )
  .option("--only <text>", "only the steps whose name contains it; random: the random faults alone")
  .option("--fault <text>", "only the faults whose name contains it, at every step")
  .option(
    "--broken <name>",
    `a build that is broken on purpose, at the step that shows it: ${Object.keys(BROKEN).join(", ")}; ` +
      `or all; with --upgrade: ${Object.keys(BROKEN_UPGRADES).join(", ")}`,
  )
  .option(
    "--repeat-late",
    "a step at which everything held, but only after the bound, is tried once more, for a machine that " +
      "does other work",
  )
  .option("--store <name>", `where objects are kept: ${Object.keys(DRILL_STORES).join(", ")}`, "directory")
  .option(
    "--upgrade [ref]",
    "instead, let this version replace the one at a commit; without one, the last commit of the " +
      "version before",
  )
  .option("--starved", "instead, keep all processors busy while documents come and people chat")
  .option("--minutes <n>", "how long, with --starved", "10")
  .option("--json", "print one line of JSON a cell")
  .action((options: Options) => (options.starved === true ? runStarved(options) : run(options)))
  .parseAsync();
