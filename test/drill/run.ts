/** `npm run drill`: the crash matrix as a table. Exits with 1 where a promise did not hold, or where a broken build was not caught. */
import { Command } from "commander";
import { startStack } from "../support/stack.ts";
import { startParts } from "../support/global-setup.ts";
import { type StepResult, runOutage, runStep } from "./drill.ts";
import { type DrillParts, OUTAGES } from "./outages.ts";
import { BROKEN, POINTS } from "./points.ts";

interface Options {
  readonly documents: string;
  readonly only?: string;
  readonly broken?: string;
  readonly long?: boolean;
  readonly seed: string;
}

const AWAY_MS = 6_000;
const RANDOM_ROUNDS = 3;

const say = (line: string): void => void process.stdout.write(`${line}\n`);

function row(result: StepResult): string {
  return `| ${result.point} | ${result.fault} | ${result.accepted} | ${result.completed} | ${result.failed} | ${result.seconds.toFixed(1)} | ${result.faults.length === 0 ? "holds" : result.faults.join("; ")} |`;
}

/** Numbers in [0, 1) that a seed repeats (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Each step as it ends: the crash points, and in the long form the outages, one by one and then at random. */
async function* steps(parts: DrillParts, { documents, only, broken, long, seed }: Options): AsyncGenerator<StepResult> {
  const isAsked = ({ name }: { name: string }): boolean => only === undefined || name.includes(only);
  for (const point of POINTS.filter(isAsked)) yield await runStep(parts.stack, point, { documents: Number(documents), ...(broken === undefined ? {} : { broken }) });
  if (!long) return;
  for (const outage of OUTAGES.filter(isAsked)) yield await runOutage(parts, outage, { documents: 40, awayMs: AWAY_MS });
  if (only !== undefined) return;
  const random = seeded(Number(seed));
  for (let round = 0; round < RANDOM_ROUNDS; round += 1)
    yield await runOutage(parts, OUTAGES[Math.floor(random() * OUTAGES.length)]!, { documents: 200, awayMs: 1_000 + random() * AWAY_MS });
}

async function run(options: Options): Promise<void> {
  const { broken } = options;
  if (broken !== undefined && !(broken in BROKEN)) throw new Error(`Broken builds: ${Object.keys(BROKEN).join(", ")}`);
  const server = await startParts({ isDurable: true });
  const stack = await startStack({ keepsWorkflows: true });
  const parts = { stack, killPostgres: () => server.killPostgres(), restartPostgres: () => server.restartPostgres() };
  let isCaught = false;
  say("| step | fault | accepted | completed | failed, with a reason | seconds | |\n|---|---|---|---|---|---|---|");
  try {
    for await (const result of steps(parts, options)) {
      isCaught ||= result.faults.length > 0;
      say(row(result));
    }
  } finally {
    await stack.close();
    await server.stop();
  }
  if (options.long) say(`seed ${options.seed}`);
  say(broken === undefined ? (isCaught ? "A promise did not hold." : "Every promise held.") : isCaught ? "The broken build was caught." : "The broken build was not caught.");
  process.exitCode = isCaught === (broken !== undefined) ? 0 : 1;
}

await new Command("drill")
  .description("Kills processes at every step of every workflow and checks that nothing is lost, doubled or stuck.")
  .option("--documents <n>", "documents of each step", "10")
  .option("--long", "also outages from outside, and random ones under 200 documents")
  .option("--seed <n>", "of the random outages", String(Date.now() % 1_000_000))
  .option("--only <text>", "only the steps whose name contains it")
  .option("--broken <name>", `a build that is broken on purpose: ${Object.keys(BROKEN).join(", ")}`)
  .action(run)
  .parseAsync();
