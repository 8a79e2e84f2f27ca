/**
 * Sends mixed traffic of many tenants for minutes and kills the worker every minute. Nothing may be lost or
 * leaked, nothing may grow, and no answer may be a 500.
 */
import { loadavg } from "node:os";
import { Client, Connection } from "@temporalio/client";
import { Command } from "commander";
import { findFaults } from "../../test/drill/checks.ts";
import { FAULTY_ROWS } from "../../test/drill/faulty-rows.ts";
import { objectsInFolder } from "../../test/drill/objects.ts";
import setup from "../../test/support/run/global-setup.ts";
import type { ChatReply } from "../../test/support/provider/scripted-provider.ts";
import { seeded } from "../../test/support/seeded.ts";
import { type Stack, startStack } from "../../test/support/stack/stack.ts";
import { until } from "../../test/support/until.ts";
import { residentMegabytes } from "../process-tree.ts";
import { makeTenants, type Tenant } from "./soak-tenants.ts";
import { soakMixed } from "./soak-mixed.ts";
import { type Asking, type Traffic, askOnce } from "./soak-traffic.ts";
import { machine, say } from "../report.ts";

interface Options {
  readonly minutes: string;
  readonly tenants: string;
  readonly rate: string;
  readonly seed: string;
  readonly mixed?: boolean;
}

interface Sample {
  readonly apiMegabytes: number;
  readonly workerMegabytes: number;
  readonly connections: number;
  /** Documents and deletions that were accepted and have not ended. */
  readonly waiting: number;
}

const KILL_EVERY_MS = 60_000;
const SAMPLE_MS = 1_000;
/** No request is made while more is waiting, so that a slow machine gets less traffic, not a backlog. */
const MOST_WAITING = 60;
const SETTLE_MS = 120_000;
/** The most times that the last quarter may be of the second: a heap is collected now and then. */
const FLAT = 1.25;
/** Of `--minutes` each: the second follows only when something seems to have grown in the first. */
const STRETCHES = 2;
const SHOWN = 20;

const pause = (ms: number): Promise<void> => new Promise((resume) => setTimeout(resume, ms));

/**
 * Calls the tool if there is one, and answers with everything in the prompt, so that a leak into a prompt is
 * seen in the answer.
 */
function answerWithPrompt(body: Record<string, any>): ChatReply {
  const last = body["messages"].at(-1);
  if (body["tools"] !== undefined && last.role === "user")
    return { toolCalls: [{ name: "knowledge_search", arguments: JSON.stringify({ query: last.content }) }] };
  return {
    pieces: body["messages"].map((message: { content: unknown }) => `${JSON.stringify(message.content)} `),
  };
}

async function takeSample(stack: Stack): Promise<Sample> {
  const { rows } = await stack.database.db.owner.query<{ connections: number; waiting: number }>(`
    select
      (select count(*)::int from pg_stat_activity where datname = current_database()) as connections,
      (select count(*)::int from (${FAULTY_ROWS["an accepted document has not ended"]}) run)
        + (select count(*)::int from (${FAULTY_ROWS["a deletion is not complete"]}) deletion) as waiting`);
  const [apiMegabytes, workerMegabytes] = await Promise.all([
    residentMegabytes(stack.api.child.pid!),
    residentMegabytes(stack.worker.child.pid!),
  ]);
  return { apiMegabytes, workerMegabytes, ...rows[0]! };
}

function median(samples: readonly Sample[], key: keyof Sample): number {
  const values = samples.map((sample) => sample[key]).toSorted((a, b) => a - b);
  return values[Math.floor(values.length / 2)] ?? 0;
}

/**
 * Sends `rate` requests a second until `end`, but none while too much is waiting; a slow answer does not
 * delay the next request.
 */
async function traffic(
  asking: Asking,
  { rate, end, samples }: { rate: number; end: number; samples: readonly Sample[] },
): Promise<void> {
  const open = new Set<Promise<void>>();
  while (Date.now() < end) {
    if ((samples.at(-1)?.waiting ?? 0) > MOST_WAITING) {
      await pause(SAMPLE_MS);
      continue;
    }
    const one = askOnce(asking);
    open.add(one);
    void one.finally(() => open.delete(one));
    await pause(1_000 / rate);
    if (open.size >= rate * 2) await Promise.race(open);
  }
  await Promise.all(open);
}

/** Kills the worker every minute until `end`. @returns how often */
async function killWorkers(stack: Stack, end: number): Promise<number> {
  let kills = 0;
  while (Date.now() + KILL_EVERY_MS / 2 < end) {
    await pause(kills === 0 ? KILL_EVERY_MS / 2 : KILL_EVERY_MS);
    await stack.worker.kill("SIGKILL");
    stack.restartWorker();
    kills += 1;
  }
  return kills;
}

/** Adds a sample every second until `end`. */
async function watch(stack: Stack, samples: Sample[], end: number): Promise<void> {
  while (Date.now() < end) {
    samples.push(await takeSample(stack));
    await pause(SAMPLE_MS);
  }
}

interface Soaked {
  readonly kills: number;
  readonly minutes: number;
  /** What grew over all of it. */
  readonly grown: readonly string[];
}

/**
 * Goes on for as long again if something seems to have grown, and judges the whole by the same bound: what
 * leaks has grown further by then, while two workers of the same age differ by chance, as other work on the
 * machine begins or ends.
 */
async function soak(stack: Stack, asking: Asking, { minutes, rate }: Options): Promise<Soaked> {
  const samples: Sample[] = [];
  let kills = 0;
  for (let stretch = 1; ; stretch += 1) {
    const end = Date.now() + Number(minutes) * 60_000;
    const [killed] = await Promise.all([
      killWorkers(stack, end),
      watch(stack, samples, end),
      traffic(asking, { rate: Number(rate), end, samples }),
    ]);
    kills += killed;
    const grown = reportFlatness(samples);
    if (grown.length === 0 || stretch === STRETCHES)
      return { kills, minutes: Number(minutes) * stretch, grown };
  }
}

/** Waits at most {@link SETTLE_MS} for everything to end. @returns what does not hold then */
async function settled(stack: Stack, tenants: readonly Tenant[]): Promise<string[]> {
  const connection = await Connection.connect({ address: stack.temporalAddress });
  const temporal = new Client({ connection });
  const accepted = new Set(tenants.flatMap((tenant) => tenant.documents));
  const deadline = Date.now() + SETTLE_MS;
  try {
    for (;;) {
      const faults = await findFaults({ stack, temporal, objects: objectsInFolder(stack.dataDir) }, accepted);
      if (faults.length === 0 || Date.now() > deadline) return faults;
      await pause(SAMPLE_MS);
    }
  } finally {
    await connection.close();
  }
}

/** Prints a line for each figure that should be flat. @returns those that grew */
function reportFlatness(samples: readonly Sample[]): string[] {
  const quarter = (index: number): readonly Sample[] =>
    samples.slice(Math.floor((samples.length * index) / 4), Math.floor((samples.length * (index + 1)) / 4));
  const grown: string[] = [];
  say("\n| median of | second quarter | last quarter | times |\n|---|---|---|---|");
  for (const [name, key] of Object.entries({
    "API (MB)": "apiMegabytes",
    "worker (MB)": "workerMegabytes",
    "connections to Postgres": "connections",
  } as const)) {
    const before = median(quarter(1), key);
    const after = median(quarter(3), key);
    say(`| ${name} | ${before} | ${after} | ${(after / before).toFixed(2)} |`);
    if (after > before * FLAT) grown.push(`${name} grew ${(after / before).toFixed(2)} times`);
  }
  return grown;
}

function reportAnswers({ answers }: Traffic): void {
  say("\n| request | status | answers |\n|---|---|---|");
  for (const [counted, count] of [...answers].toSorted(([a], [b]) => a.localeCompare(b)))
    say(`| ${counted.replace("|", " | ")} | ${count} |`);
}

async function run(options: Options): Promise<void> {
  if (options.mixed === true) return soakMixed(Number(options.minutes), Number(options.seed));
  const stop = await setup();
  const stack = await startStack();
  try {
    stack.provider.replyAlways(answerWithPrompt);
    const tenants = await makeTenants(stack, Number(options.tenants));
    await until("the API is ready", async () => (await fetch(`${stack.url}/health/ready`)).ok);
    say(
      `${machine()}; scripted provider; ` +
        `everything on this machine; load ${loadavg()[0]!.toFixed(1)}; seed ${options.seed}`,
    );
    const counted: Traffic = { answers: new Map(), wrong: [], ownSeen: 0 };
    const asking: Asking = {
      url: stack.url,
      tenants,
      traffic: counted,
      random: seeded(Number(options.seed)),
    };
    const { kills, minutes, grown } = await soak(stack, asking, options);
    const from = performance.now();
    const unsettled = await settled(stack, tenants);
    const seconds = (performance.now() - from) / 1_000;
    reportAnswers(counted);
    const wrong = [
      ...counted.wrong,
      ...unsettled,
      ...grown,
      ...(counted.ownSeen === 0
        ? ["no answer held its own tenant's canary: the look for others' proves nothing"]
        : []),
    ];
    const total = [...counted.answers.values()].reduce((sum, count) => sum + count, 0);
    const kept = tenants.reduce((sum, tenant) => sum + tenant.documents.length, 0);
    say(
      `\n${total} answers to ${tenants.length} tenants in ${minutes} minutes, ${kills} workers ` +
        `killed; own canary in ${counted.ownSeen} answers, others' in 0 unless said below;`,
    );
    say(`${kept} documents kept; everything had ended ${seconds.toFixed(1)} s after the last request.`);
    for (const one of wrong.slice(0, SHOWN)) say(`wrong: ${one}`);
    if (wrong.length > SHOWN) say(`… and ${wrong.length - SHOWN} more`);
    say(
      wrong.length === 0
        ? "Nothing lost, nothing leaked, no answer of 500, nothing grew."
        : `${wrong.length} things are wrong.`,
    );
    process.exitCode = wrong.length === 0 ? 0 : 1;
  } finally {
    await stack.close();
    await stop();
  }
}

await new Command("bench:soak")
  .description("Mixed traffic of many tenants, a worker killed every minute.")
  .option("--minutes <number>", "how long; twice that if something seems to have grown", "30")
  .option("--tenants <number>", "organizations", "50")
  .option("--rate <number>", "requests a second, at most", "20")
  .option("--mixed", "eight clients that do everything instead, the built-in models, and no kills: memory")
  .option("--seed <number>", "of what is asked for", "1")
  .action(run)
  .parseAsync();
