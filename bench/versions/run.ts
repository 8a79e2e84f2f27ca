/**
 * Measures what chat and ingest cost in this version against the one before, in turn in one run: both serve
 * side by side, and one at a time is given work.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { Command } from "commander";
import { mapAtMost } from "../../src/process/concurrency/settle-all.ts";
import { makeTreeOf } from "../../test/drill/upgrade/trees.ts";
import { PREVIOUS, THIS_TREE, findVersion, thisVersion } from "../../test/drill/upgrade/versions.ts";
import { ended, upload } from "../../test/support/clients/client.ts";
import { AGENTS, KEYS, SPACES } from "../../test/support/tenants/tenants.ts";
import { until } from "../../test/support/until.ts";
import { startProvider } from "../chat/start.ts";
import { type Target, ask, closeConnections, load } from "../chat/load.ts";
import { cpuSeconds } from "../process-tree.ts";
import { machine, percentile, say } from "../report.ts";

interface Options {
  readonly from: string;
  readonly rounds: string;
  readonly seconds: string;
  readonly atOnce: string;
  readonly documents: string;
}

interface Served {
  readonly name: string;
  readonly url: string;
  readonly child: ChildProcess;
}

/** What one slice of work cost: milliseconds of processor time for each unit, and how long the units took. */
interface Slice {
  readonly cpuMs: number;
  readonly times: readonly number[];
  readonly perSecond: number;
}

const AT_ONCE = 8;
const WARM_UP_SECONDS = 5;
const IDLE_MS = 500;
const IDLE_SECONDS = 20;
/** A stack that uses less than this share of a processor has nothing left to do. */
const IDLE_SHARE = 0.15;
const LONGEST_IDLE_MS = 60_000;

async function serve(name: string, tree: string, provider: string): Promise<Served> {
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, "serve.ts"), "--tree", tree, "--provider", provider],
    { cwd: tree, stdio: ["pipe", "pipe", "inherit"] },
  );
  const [url] = (await once(createInterface(child.stdout!), "line")) as [string];
  return { name, url, child };
}

async function stop({ child }: Served): Promise<void> {
  const hasEnded = once(child, "exit");
  child.stdin!.end();
  await hasEnded;
}

/** Waits until the stack has nothing left to do. @returns its seconds of processor time. */
async function settled({ child }: Served): Promise<number> {
  let before = await cpuSeconds(child.pid!);
  return until(
    "the stack is idle",
    async () => {
      await sleep(IDLE_MS);
      const now = await cpuSeconds(child.pid!);
      const isIdle = now - before < (IDLE_SHARE * IDLE_MS) / 1_000;
      before = now;
      return isIdle ? now : undefined;
    },
    LONGEST_IDLE_MS,
  );
}

async function measure(served: Served, work: () => Promise<readonly number[]>): Promise<Slice> {
  const before = await settled(served);
  const startedAt = performance.now();
  const times = await work();
  const seconds = (performance.now() - startedAt) / 1_000;
  const used = (await settled(served)) - before;
  return { cpuMs: (1_000 * used) / times.length, times, perSecond: times.length / seconds };
}

const chatOf = ({ url }: Served): Target => ({
  url: `${url}/v1/chat/completions`,
  headers: { authorization: `Bearer ${KEYS.owner}` },
  body: JSON.stringify({
    model: AGENTS.public,
    messages: [{ role: "user", content: "How did revenue develop over the last year?" }],
    stream: true,
  }),
});

/** @returns milliseconds to the first token of each chat. */
async function chats(served: Served, atOnce: number, seconds: number): Promise<number[]> {
  const { samples, failures } = await load(chatOf(served), atOnce, seconds);
  if (failures > 0) throw new Error(`${failures} chats failed`);
  return samples.map(({ firstMs }) => firstMs);
}

/** @returns milliseconds from the upload of each document to its end. */
async function documents({ url }: Served, count: number, round: number): Promise<number[]> {
  const times: number[] = [];
  await mapAtMost(AT_ONCE, [...Array(count).keys()], async (index) => {
    const startedAt = performance.now();
    const text = `# Report ${round} ${index}\n\n${`Revenue of part ${index} grew in year ${round}. `.repeat(30)}`;
    const { id } = await upload(url, KEYS.owner, SPACES.research, text, `report-${round}-${index}.md`);
    await ended(url, KEYS.owner, id);
    times.push(performance.now() - startedAt);
  });
  return times;
}

function tell(what: string, [old, now]: readonly [Slice[], Slice[]]): void {
  const numbers = (slices: readonly Slice[]): string => {
    const times = slices.flatMap((slice) => slice.times);
    return [
      percentile(
        slices.map(({ cpuMs }) => cpuMs),
        0.5,
      ).toFixed(2),
      percentile(
        slices.map(({ perSecond }) => perSecond),
        0.5,
      ).toFixed(0),
      `${percentile(times, 0.5).toFixed(1)} / ${percentile(times, 0.95).toFixed(1)}`,
    ].join(" | ");
  };
  const ratios = (of: (slice: Slice) => number): string => {
    const each = now.map((slice, index) => of(slice) / of(old[index]!));
    return [0.25, 0.5, 0.75].map((share) => percentile(each, share).toFixed(2)).join(" / ");
  };
  const count = old.length;
  say(`| ${what}, before | ${numbers(old)} | |`);
  say(`| ${what}, now | ${numbers(now)} | |`);
  say(
    `| ${what}, now : before, quartiles of ${count} rounds | ${ratios(({ cpuMs }) => cpuMs)} | ` +
      `${ratios(({ perSecond }) => perSecond)} | ${ratios(({ times }) => percentile(times, 0.5))} | |`,
  );
}

/** Milliseconds of processor time in a second without work, of both at once. */
async function idle(versions: readonly [Served, Served]): Promise<number[]> {
  const before = await Promise.all(versions.map(settled));
  await sleep(IDLE_SECONDS * 1_000);
  const after = await Promise.all(versions.map(({ child }) => cpuSeconds(child.pid!)));
  return after.map((seconds, index) => (1_000 * (seconds - before[index]!)) / IDLE_SECONDS);
}

type Work = (served: Served, round: number) => Promise<readonly number[]>;

/** Every other round begins with the other version, so that neither is always the second. */
async function inTurn(
  versions: readonly [Served, Served],
  rounds: number,
  work: Work,
): Promise<[Slice[], Slice[]]> {
  const slices: [Slice[], Slice[]] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    for (const index of round % 2 === 0 ? [0, 1] : [1, 0]) {
      const served = versions[index]!;
      slices[index]!.push(await measure(served, () => work(served, round)));
    }
  }
  return slices;
}

async function run({ from, rounds, seconds, atOnce, documents: count }: Options): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-versions-"));
  const before = await findVersion(from);
  const { root } = await makeTreeOf(before.commit, folder);
  const provider = await startProvider("0", "20");
  const old = await serve(before.number, root, provider.url);
  const now = await serve(await thisVersion(), THIS_TREE, provider.url);
  const versions = [old, now] as const;
  try {
    for (const served of versions) {
      await until("chat is ready", () => ask(chatOf(served)).catch(() => undefined));
      await load(chatOf(served), AT_ONCE, WARM_UP_SECONDS);
      await documents(served, AT_ONCE * 4, -1);
    }
    say(
      `${machine()}; ${old.name} (${before.commit.slice(0, 7)}) against ${now.name}, ${atOnce} chats at once`,
    );
    say("| | processor time of one (ms) | a second | first token, or upload to end: p50 / p95 (ms) | |");
    say("|---|---|---|---|---|");
    const [idleBefore, idleNow] = await idle(versions);
    say(`| a second without work | ${idleBefore!.toFixed(0)} before, ${idleNow!.toFixed(0)} now | | | |`);
    const chatOnce: Work = (served) => chats(served, Number(atOnce), Number(seconds));
    tell("chat", await inTurn(versions, Number(rounds), chatOnce));
    tell(
      "ingest",
      await inTurn(versions, Number(rounds), (served, round) => documents(served, Number(count), round)),
    );
    say(`load of the machine at the end: ${loadavg()[0]!.toFixed(1)}`);
  } finally {
    closeConnections();
    await Promise.all(versions.map(stop));
    provider.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

await new Command("bench:versions")
  .description("What chat and ingest cost against the version before, in turn.")
  .option("--from <ref>", "the commit to compare with", PREVIOUS)
  .option("--rounds <n>", "slices of each version", "8")
  .option("--seconds <n>", "length of a slice of chats", "12")
  .option("--at-once <n>", "chats at once", String(AT_ONCE))
  .option("--documents <n>", "documents of a slice of ingest", "250")
  .action(run)
  .parseAsync();
