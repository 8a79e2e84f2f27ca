/**
 * The mixed soak: clients that do everything at once with the built-in models, and then two quiet minutes.
 * What the API and the worker then hold is compared with what they held after each kind of work was done
 * once, and with what they held as they became ready.
 */
import { loadavg } from "node:os";
import setup from "../../test/support/run/global-setup.ts";
import { seeded } from "../../test/support/seeded.ts";
import { type Stack, startStack } from "../../test/support/stack/stack.ts";
import { until } from "../../test/support/until.ts";
import { proportionalMegabytes, treeOf } from "../process-tree.ts";
import { machine, say } from "../report.ts";
import { type MixedTraffic, mixedTraffic, useEverything } from "./mixed-traffic.ts";

const CLIENTS = 8;
const QUIET_MS = 120_000;
const SAMPLE_MS = 60_000;
/** The most times that it may be of what it was at first. */
const MOST_GROWTH = 1.5;

interface Held {
  readonly api: number;
  readonly worker: number;
  /** Of the parser processes of both, which are replaced and end with time. */
  readonly parsers: number;
}

const pause = (ms: number): Promise<void> => new Promise((resume) => setTimeout(resume, ms));
const pidsOf = ({ api, worker }: Stack): readonly [number, number] => [api.child.pid!, worker.child.pid!];

async function held(stack: Stack): Promise<Held> {
  const pids = pidsOf(stack);
  const [api, worker] = await Promise.all(pids.map(proportionalMegabytes));
  const trees = (await Promise.all(pids.map(treeOf))).flatMap(([, ...below]) => below);
  const parsers = (await Promise.all(trees.map(proportionalMegabytes))).reduce((sum, one) => sum + one, 0);
  return { api: api!, worker: worker!, parsers };
}

function show(when: string, { api, worker, parsers }: Held): void {
  say(`| ${when} | ${api} | ${worker} | ${parsers} | ${loadavg()[0]!.toFixed(1)} |`);
}

async function watch(stack: Stack, end: number): Promise<void> {
  for (let minute = 1; Date.now() + SAMPLE_MS < end; minute += 1) {
    await pause(SAMPLE_MS);
    show(`minute ${minute}`, await held(stack));
  }
}

function faultsOf(first: Held, last: Held, { answers }: MixedTraffic): string[] {
  const grown = (["api", "worker"] as const).flatMap((name) => {
    const times = last[name] / first[name];
    say(`${name}: ${first[name]} to ${last[name]} MB of PSS, ${times.toFixed(2)} times`);
    return times > MOST_GROWTH ? [`the ${name} grew ${times.toFixed(2)} times`] : [];
  });
  const refused = [...answers].flatMap(([counted, count]) =>
    / \| 20[01]$/.test(counted) ? [] : [`${counted}: ${count} times`],
  );
  return [...grown, ...refused];
}

export async function soakMixed(minutes: number, seed: number): Promise<void> {
  const stop = await setup();
  const stack = await startStack({ localModels: true });
  try {
    await until("the API is ready", async () => (await fetch(`${stack.url}/health/ready`)).ok);
    say(`${machine()}; built-in models; ${CLIENTS} clients and all servers on this machine; seed ${seed}\n`);
    say("| MB of PSS | API | worker | parsers | load |\n|---|---|---|---|---|");
    show("ready", await held(stack));
    const traffic: MixedTraffic = {
      url: stack.url,
      random: seeded(seed),
      documents: { pdfs: [], notes: [] },
      waiting: new Set(),
      answers: new Map(),
    };
    await useEverything(traffic);
    const first = await held(stack);
    show("each kind once", first);
    const end = Date.now() + minutes * 60_000;
    await Promise.all([mixedTraffic(traffic, CLIENTS, end), watch(stack, end)]);
    show("end of the traffic", await held(stack));
    await Promise.all(traffic.waiting);
    await pause(QUIET_MS);
    const last = await held(stack);
    show("after two quiet minutes", last);
    say("\n| request | status | answers |\n|---|---|---|");
    for (const [counted, count] of [...traffic.answers].toSorted(([one], [other]) =>
      one.localeCompare(other),
    ))
      say(`| ${counted} | ${count} |`);
    const hasEnded = [stack.api, stack.worker].some(
      ({ child }) => child.exitCode !== null || child.signalCode !== null,
    );
    const faults = faultsOf(first, last, traffic);
    if (hasEnded) faults.push("a process ended");
    for (const fault of faults) say(`wrong: ${fault}`);
    process.exitCode = faults.length === 0 ? 0 : 1;
  } finally {
    await stack.close();
    await stop();
  }
}
