/**
 * Measures what one tenant's hostile inputs do to the uploads, searches, chats and /health of another,
 * compared with two processes that just burn both cores.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { loadavg } from "node:os";
import { Command } from "commander";
import setup from "../../test/support/run/global-setup.ts";
import { startIssuer } from "../../test/support/servers/issuer.ts";
import { type Stack, startStack } from "../../test/support/stack/stack.ts";
import { AGENTS, KEYS, SPACES, TENANTS } from "../../test/support/tenants/tenants.ts";
import { cleanUp } from "./hurt-clean-up.ts";
import { measureWaitingFiles } from "./hurt-files.ts";
import { readAsFaults } from "./hurt-starved.ts";
import {
  backticks,
  HOSTILE_INPUTS,
  type HostileInput,
  JSON_BODIES,
  postRaw,
  type Sender,
} from "./hurt-inputs.ts";
import { measureKeptResponses } from "./hurt-responses.ts";
import { type Measure, MEASURES, PATIENCE_MS, type Seen, type Victim, watch } from "./hurt-victim.ts";
import { cpuSeconds, peakOf, residentMegabytes } from "../process-tree.ts";
import { machine, percentile, say } from "../report.ts";

interface Options {
  readonly repeat: string;
  readonly seconds: string;
  readonly only?: string;
  readonly responses: boolean;
}

/** What the victim saw during an input, or during a yardstick. */
interface Phase {
  readonly name: string;
  readonly seen: Seen;
  readonly failures: readonly string[];
}

/** The most times that p95 during an input may be of p95 during the burners. */
const MOST_TIMES: Readonly<Record<Measure, number>> = { upload: 3, search: 3, chat: 3, health: 5 };
const BURNERS = 2;
const WARM_UP_SECONDS = 5;
/** After an input, its documents have this long to end before they are deleted. */
const SETTLE_MS = 180_000;
/** An input that is never answered must not hold the bench for ever. */
const SEND_MS = 10 * 60_000;
const JSON_ROUNDS = 3;

const pause = (ms: number): Promise<void> => new Promise((resume) => setTimeout(resume, ms));

/** Watches the victim until `work` has ended, and for `seconds` at least. */
async function watchDuring(
  name: string,
  victim: Victim,
  options: { seconds: number; measures?: readonly Measure[] },
  work: () => Promise<void>,
): Promise<Phase> {
  const { seconds, measures = MEASURES } = options;
  const failures: string[] = [];
  const least = performance.now() + seconds * 1_000;
  let isOver = false;
  const watching = watch(
    victim,
    measures,
    () => isOver && performance.now() > least,
    (what) => failures.push(what),
  );
  try {
    await Promise.race([work(), pause(SEND_MS).then(() => failures.push("the sender was not answered"))]);
  } catch (error) {
    failures.push(`the sender failed: ${error instanceof Error ? error.message : String(error)}`);
  } finally {
    isOver = true;
  }
  return { name, seen: await watching, failures };
}

function startBurners(): ChildProcess[] {
  return Array.from({ length: BURNERS }, () =>
    spawn(process.execPath, ["--eval", "for (;;);"], { stdio: "ignore" }),
  );
}

async function watchDuringBurners(victim: Victim, seconds: number): Promise<Phase> {
  const burners = startBurners();
  try {
    return await watchDuring(
      "beside two processes that burn both cores",
      victim,
      { seconds },
      async () => {},
    );
  } finally {
    for (const burner of burners) burner.kill("SIGKILL");
  }
}

/** Sends the input once, and then `repeat` times in a row. */
async function watchDuringInput(
  input: HostileInput,
  sender: Sender,
  victims: { other: Victim; own: Victim },
  options: { repeat: number; seconds: number },
): Promise<Phase[]> {
  const victim = input.isAtHome === true ? victims.own : victims.other;
  const measures: readonly Measure[] = input.isAtHome === true ? ["upload"] : MEASURES;
  const times = Math.min(options.repeat, input.most ?? Infinity);
  const phases: Phase[] = [];
  for (const count of times > 1 ? [1, times] : [1]) {
    await input.prepare?.(sender);
    const send = async (): Promise<void> => {
      for (let index = 0; index < count; index += 1) await input.send(sender);
    };
    const measured = await watchDuring(
      count === 1 ? input.name : `${input.name}, ${count} in a row`,
      victim,
      { seconds: options.seconds, measures },
      send,
    );
    const left = await cleanUp(sender, SETTLE_MS);
    if (left > 0) {
      // What still occupies the worker would slow down the next input.
      await sender.stack.worker.kill("SIGKILL");
      sender.stack.restartWorker();
    }
    phases.push(left > 0 ? late(measured, left, count) : measured);
    report(phases.at(-1)!);
  }
  return phases;
}

/** A single input that has not ended by then hangs; many in a row are known to take their sender longer. */
function late({ name, seen, failures }: Phase, left: number, count: number): Phase {
  const what = `${left} documents had not ended ${SETTLE_MS / 1_000} s later`;
  return count === 1
    ? { name, seen, failures: [...failures, what] }
    : { name: `${name} (${what}, and were deleted)`, seen, failures };
}

let yardstick: Seen | undefined;

const pair = (values: readonly number[]): string =>
  values.length === 0
    ? "–"
    : `${percentile(values, 0.5).toFixed(0)} / ${percentile(values, 0.95).toFixed(0)}`;
const ratio = (seen: Seen, measure: Measure): number =>
  percentile(seen[measure], 0.95) / percentile(yardstick?.[measure] ?? [], 0.95);

/** Prints a row of the table: p50 / p95, and how many times the yardstick's p95 it is. */
function report({ name, seen, failures }: Phase): void {
  const cell = (measure: Measure): string => {
    const times = ratio(seen, measure);
    return `${pair(seen[measure])}${Number.isNaN(times) ? "" : ` (${times.toFixed(1)} ×)`}`;
  };
  say(
    `| ${name} | ${MEASURES.map(cell).join(" | ")} | ` +
      `${[...new Set(failures)].slice(0, 2).join("; ").slice(0, 160)} |`,
  );
}

/** The measures that are over {@link MOST_TIMES}, and what failed. */
function faultsOf({ name, seen, failures }: Phase): string[] {
  const slow = MEASURES.filter((measure) => ratio(seen, measure) > MOST_TIMES[measure]);
  return [
    ...slow.map((measure) => `${name}: ${measure} ${ratio(seen, measure).toFixed(1)} times as long`),
    ...[...new Set(failures)].map((failure) => `${name}: ${failure}`),
  ];
}

/** Sends JSON bodies of nearly the limit in every shape; measures the answer, processor time and memory. */
async function measureJson(stack: Stack): Promise<void> {
  say(
    "\n| JSON body of nearly 4 MiB | status | answered after (ms) | processor (ms) | memory of the API: " +
      "before, most (MB) |\n|---|---|---|---|---|",
  );
  const pid = stack.api.child.pid!;
  for (const [name, make] of Object.entries(JSON_BODIES)) {
    const body = Buffer.from(make());
    const before = await residentMegabytes(pid);
    const peak = peakOf(async () => [pid]);
    const cpuBefore = await cpuSeconds(pid);
    const took: number[] = [];
    const answers = new Set<number | string>();
    for (let round = 0; round < JSON_ROUNDS; round += 1) {
      const started = performance.now();
      answers.add(
        await postRaw(`${stack.url}/v1/data/hybrid-search`, KEYS.editor, body).catch((error: unknown) =>
          String(error),
        ),
      );
      took.push(performance.now() - started);
    }
    const processor = ((await cpuSeconds(pid)) - cpuBefore) / JSON_ROUNDS;
    say(
      `| ${name} | ${[...answers].join(", ")} | ${percentile(took, 0.5).toFixed(0)} | ` +
        `${(processor * 1_000).toFixed(0)} | ${before}, ${peak.stop()} |`,
    );
  }
}

function scriptProvider({ provider }: Stack): void {
  provider.replyAlways((body) => {
    const isHostile = JSON.stringify(body["messages"]).includes("backticks, please");
    return { pieces: isHostile ? backticks() : ["The", " note", " says", " so."] };
  });
  // Some providers normalise the vector of a text without words by dividing it by its length, which is 0.
  provider.poisonTexts((text) => (/[\p{L}\p{N}]/u.test(text) ? undefined : "zeros"));
}

function endWith(faults: readonly string[]): void {
  for (const fault of faults) say(`held up: ${fault}`);
  say(
    faults.length === 0
      ? "Nobody was held up."
      : `${faults.length} things held others up. A request that failed counts as ${PATIENCE_MS / 1_000} s.`,
  );
  process.exitCode = faults.length === 0 ? 0 : 1;
}

async function run(options: Options): Promise<void> {
  const stop = await setup();
  const issuer = await startIssuer();
  const stack = await startStack({
    env: { OIDC_ISSUER: issuer.url, OIDC_AUDIENCE: issuer.audience },
  });
  try {
    scriptProvider(stack);
    const token = await issuer.token(TENANTS.subject("rob"));
    if (options.responses) {
      say(`${machine()}; scripted provider; everything on this machine; load ${loadavg()[0]!.toFixed(1)}`);
      return endWith(await measureKeptResponses(stack, token));
    }
    const other: Victim = { url: stack.url, key: KEYS.rival, spaceId: SPACES.rival, agentId: AGENTS.rival };
    const own: Victim = {
      url: stack.url,
      key: KEYS.owner,
      spaceId: SPACES.research,
      agentId: AGENTS.analyst,
    };
    const sender: Sender = { stack, documents: [] };
    const seconds = Number(options.seconds);
    say(
      `${machine()}; scripted provider; ` +
        `everything on this machine; load ${loadavg()[0]!.toFixed(1)}; ${seconds} s a row at least; p50 / ` +
        "p95 in ms, and how many times p95 beside the burners",
    );
    await watchDuring("warm-up", other, { seconds: WARM_UP_SECONDS }, async () => {});
    say(
      "\n| beside | small upload | search | first token of a chat | /health | what failed " +
        "|\n|---|---|---|---|---|---|",
    );
    report(await watchDuring("nothing", other, { seconds }, async () => {}));
    const burning = await watchDuringBurners(other, seconds);
    yardstick = burning.seen;
    report(burning);
    const misread = await readAsFaults(stack);
    const chosen = HOSTILE_INPUTS.filter(
      ({ name }) => options.only === undefined || options.only.split(",").some((part) => name.includes(part)),
    );
    const phases: Phase[] = [];
    for (const input of chosen)
      phases.push(
        ...(await watchDuringInput(
          input,
          sender,
          { other, own },
          { repeat: Number(options.repeat), seconds },
        )),
      );
    await measureJson(stack);
    endWith([
      ...misread,
      ...phases.flatMap(faultsOf),
      ...(await measureKeptResponses(stack, token)),
      ...(await measureWaitingFiles(stack)),
    ]);
  } finally {
    await stack.close();
    await issuer.close();
    await stop();
  }
}

await new Command("bench:hurt")
  .description("What hostile inputs of one tenant do to another, against two processes that burn both cores.")
  .option("--repeat <n>", "how often each input is sent in a row, after it was sent once", "20")
  .option("--seconds <n>", "seconds that each row is watched for, at least", "10")
  .option("--responses", "measure only what requests about a long kept response do", false)
  .option("--only <text>", "inputs whose name holds one of these, with commas between them")
  .action(run)
  .parseAsync();
