/**
 * Measures what Holdfast adds to the first token of a chat, against the model provider asked directly and the
 * LiteLLM proxy: in turn, in one run.
 */
import { loadavg } from "node:os";
import { Command } from "commander";
import setup from "../../test/support/run/global-setup.ts";
import type { Stack } from "../../test/support/stack/stack.ts";
import { machine, say } from "../report.ts";
import { UPLOADED, runBeside } from "./beside.ts";
import { closeConnections } from "./load.ts";
import { SLICE_SECONDS, measureCell } from "./measure.ts";
import { installedLiteLlm, startBench } from "./start.ts";
import { HEAD, row } from "./table.ts";
import { targetsOf } from "./targets.ts";

interface Options {
  readonly seconds: string;
  readonly concurrency: string;
  readonly firstTokenMs: string;
  readonly pieces: string;
  readonly agents: string;
  readonly litellm?: string;
  readonly beside: boolean;
}

/** Chats at once in the cells that run while files are uploaded and searches asked. */
const BESIDE_AT_ONCE = 8;

/** Counts the turns in the ledger by their status. */
async function countTurns(stack: Stack): Promise<Record<string, number>> {
  const { rows } = await stack.database.db.owner.query<{ status: string; count: number }>(
    "select status, count(*)::int as count from turns group by status",
  );
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
}

async function runDelay(delay: string, options: Options): Promise<void> {
  const bench = await startBench(delay, options);
  const seconds = Number(options.seconds);
  try {
    for (const agent of options.agents.split(",")) {
      for (const atOnce of options.concurrency.split(",").map(Number))
        say(row(delay, agent, atOnce, await measureCell(targetsOf(agent, bench), atOnce, seconds, bench)));
    }
    for (const kind of options.beside ? UPLOADED : []) {
      const beside = runBeside(bench.stack.url, kind);
      const targets = targetsOf("plain", { ...bench, litellm: undefined });
      const cell = await measureCell(targets, BESIDE_AT_ONCE, seconds, bench);
      say(row(delay, `plain, ${await beside.stop()}`, BESIDE_AT_ONCE, cell));
    }
    process.stderr.write(`turns in the ledger: ${JSON.stringify(await countTurns(bench.stack))}\n`);
  } finally {
    await bench.close();
  }
}

async function run(options: Options): Promise<void> {
  const stop = await setup();
  try {
    say(
      `${machine()}; load, provider, API, ` +
        `worker, Temporal and Postgres on this machine; load average ${loadavg()[0]?.toFixed(2)} at the ` +
        "start",
    );
    say(
      `provider: ${options.pieces} pieces an answer; ${options.seconds} s a cell, in slices of at most ` +
        `${SLICE_SECONDS} s, the others a third of it; for a turn with a tool the provider is asked ` +
        "directly twice; milliseconds p50 / p95; the event loop is that of the API\n",
    );
    say(HEAD);
    for (const delay of options.firstTokenMs.split(",")) await runDelay(delay, options);
  } finally {
    closeConnections();
    await stop();
  }
}

await new Command()
  .description("Measures what the service adds to a chat's first token, and prints one table.")
  .option("--seconds <n>", "seconds a cell", "60")
  .option("--concurrency <list>", "chats at once, a cell each", "1,8,32")
  .option("--first-token-ms <list>", "the provider's times to its first token", "0,200")
  .option("--pieces <n>", "pieces of the provider's answers", "4")
  .option(
    "--agents <list>",
    "plain, rag (searches first), tool (one tool, two model calls)",
    "plain,rag,tool",
  )
  .option("--litellm <path>", "the litellm binary of pip install 'litellm[proxy]'", installedLiteLlm())
  .option("--no-beside", "without the cells beside uploads and searches")
  .action(run)
  .parseAsync();
