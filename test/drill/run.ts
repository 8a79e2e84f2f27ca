/** `npm run drill`: the crash matrix as a table. Exits with 1 where a promise did not hold, or where a broken build was not caught. */
import { Command } from "commander";
import { startStack } from "../support/stack.ts";
import setup from "../support/global-setup.ts";
import { type StepResult, runStep } from "./drill.ts";
import { BROKEN, POINTS } from "./points.ts";

interface Options {
  readonly documents: string;
  readonly only?: string;
  readonly broken?: string;
}

const say = (line: string): void => void process.stdout.write(`${line}\n`);

function row(result: StepResult): string {
  return `| ${result.point} | ${result.fault} | ${result.accepted} | ${result.completed} | ${result.failed} | ${result.seconds.toFixed(1)} | ${result.faults.length === 0 ? "holds" : result.faults.join("; ")} |`;
}

async function run({ documents, only, broken }: Options): Promise<void> {
  if (broken !== undefined && !(broken in BROKEN)) throw new Error(`Broken builds: ${Object.keys(BROKEN).join(", ")}`);
  const stop = await setup();
  const stack = await startStack();
  const results: StepResult[] = [];
  say("| step | fault | accepted | completed | failed, with a reason | seconds | |\n|---|---|---|---|---|---|---|");
  try {
    for (const point of POINTS.filter(({ name }) => only === undefined || name.includes(only))) {
      results.push(await runStep(stack, point, { documents: Number(documents), ...(broken === undefined ? {} : { broken }) }));
      say(row(results.at(-1)!));
    }
  } finally {
    await stack.close();
    await stop();
  }
  const isCaught = results.some((result) => result.faults.length > 0);
  say(broken === undefined ? (isCaught ? "A promise did not hold." : "Every promise held.") : isCaught ? "The broken build was caught." : "The broken build was not caught.");
  process.exitCode = isCaught === (broken !== undefined) ? 0 : 1;
}

await new Command("drill")
  .description("Kills processes at every step of every workflow and checks that nothing is lost, doubled or stuck.")
  .option("--documents <n>", "documents of each step", "10")
  .option("--only <text>", "only the steps whose name contains it")
  .option("--broken <name>", `a build that is broken on purpose: ${Object.keys(BROKEN).join(", ")}`)
  .action(run)
  .parseAsync();
