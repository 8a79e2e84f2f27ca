/**
 * What Holdfast adds to the first token of a chat, against the model provider asked directly and the LiteLLM
 * proxy: in turn, in one run.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { accessSync, constants } from "node:fs";
import { cpus, loadavg } from "node:os";
import { delimiter, join } from "node:path";
import { createInterface } from "node:readline";
import { Client, Connection } from "@temporalio/client";
import { Command } from "commander";
import { freePort } from "../../src/embedded/ports.ts";
import setup from "../../test/support/run/global-setup.ts";
import { ended, upload } from "../../test/support/clients/client.ts";
import { type Stack, startStack } from "../../test/support/stack/stack.ts";
import { AGENTS, KEYS, SPACES } from "../../test/support/tenants/tenants.ts";
import { until } from "../../test/support/until.ts";
import { UPLOADED, runBeside } from "./beside.ts";
import {
  type Measured,
  type Sample,
  type Target,
  ask,
  both,
  closeConnections,
  load,
  percentile,
} from "./load.ts";
import { type LiteLlm, startLiteLlm } from "./litellm.ts";

interface Options {
  readonly seconds: string;
  readonly concurrency: string;
  readonly firstTokenMs: string;
  readonly pieces: string;
  readonly agents: string;
  readonly litellm?: string;
  readonly beside: boolean;
}

/**
 * What is compared takes turns, so that all see the same machine: the service for so long, then each other
 * for a part of it.
 */
const SLICE_SECONDS = 15;
const OTHERS_SHARE = 1 / 3;
const WARM_UP_SECONDS = 3;
const DRAIN_MS = 60_000;
/**
 * A slice in which the turns that are open grow by more than this, and by this share, is measured again; so
 * often at most.
 */
const GROWTH_TURNS = 16;
const GROWTH_SHARE = 0.25;
const SLICES_AGAIN = 2;
const SAMPLE_MS = 1_000;
const BESIDE_AT_ONCE = 8;
const NOTE =
  "# Revenue\n\nRevenue grew by 12 percent over the last year, to 48 million.\n\nCosts grew by 3 percent.\n";
const MODELS: Record<string, string> = { plain: AGENTS.public, rag: AGENTS.analyst, tool: AGENTS.librarian };

type Name = "direct" | "holdfast" | "litellm";

interface Cell {
  readonly measured: Map<Name, Measured>;
  /**
   * Turns that the API holds: those that answer and those whose books are not closed; seen each second of the
   * slices that count.
   */
  readonly openTurns: number[];
  readonly slicesAgain: number;
  /** From the end of a slice's load until no workflow of a turn is open; the longest. */
  readonly drainMs: number;
  readonly eventLoop: { readonly p50: number; readonly p99: number; readonly max: number };
}

/** What is running for one delay of the provider. */
interface Bench {
  readonly stack: Stack;
  readonly litellm: LiteLlm | undefined;
  readonly providerUrl: string;
  readonly openTurns: () => Promise<number>;
  readonly openWorkflows: () => Promise<number>;
  readonly eventLoop: () => Promise<Cell["eventLoop"]>;
  close(): Promise<void>;
}

/** Looks while `work` lasts. */
async function watched<T>(look: () => Promise<number>, work: Promise<T>): Promise<[T, number[]]> {
  const seen: number[] = [];
  const timer = setInterval(
    () =>
      void look().then(
        (count) => seen.push(count),
        () => undefined,
      ),
    SAMPLE_MS,
  );
  return [await work.finally(() => clearInterval(timer)), seen];
}

/** True where the second half of what was seen is about as high as the first. */
function isFlat(seen: readonly number[]): boolean {
  const middle = Math.floor(seen.length / 2);
  const mean = (part: readonly number[]): number =>
    part.reduce((sum, count) => sum + count, 0) / Math.max(1, part.length);
  const [before, after] = [mean(seen.slice(0, middle)), mean(seen.slice(middle))];
  return after - before <= Math.max(GROWTH_TURNS, before * GROWTH_SHARE);
}

interface Slice {
  readonly part: Measured;
  readonly open: readonly number[];
  readonly eventLoop: Cell["eventLoop"];
  readonly drainMs: number;
}

async function measureSlice(
  target: Target,
  concurrency: number,
  seconds: number,
  { openTurns, openWorkflows, eventLoop }: Bench,
): Promise<Slice> {
  await eventLoop();
  const [part, open] = await watched(openTurns, load(target, concurrency, seconds));
  const endedAt = performance.now();
  const delay = await eventLoop();
  await until("the turns' workflows have drained", async () => (await openWorkflows()) === 0, DRAIN_MS);
  return { part, open, eventLoop: delay, drainMs: performance.now() - endedAt };
}

async function measure(
  targets: ReadonlyMap<Name, Target>,
  concurrency: number,
  seconds: number,
  bench: Bench,
): Promise<Cell> {
  const measured = new Map<Name, Measured>();
  const add = (name: Name, part: Measured): void => void measured.set(name, both(measured.get(name), part));
  const slices: Slice[] = [];
  const { holdfast, ...others } = Object.fromEntries(targets) as Record<Name, Target>;
  let slicesAgain = 0;
  for (const target of targets.values()) await load(target, concurrency, WARM_UP_SECONDS);
  for (let spent = 0; spent < seconds;) {
    const length = Math.min(SLICE_SECONDS, seconds - spent);
    const slice = await measureSlice(holdfast, concurrency, length, bench);
    if (!isFlat(slice.open) && slicesAgain < SLICES_AGAIN) {
      slicesAgain += 1;
      continue;
    }
    spent += length;
    slices.push(slice);
    add("holdfast", slice.part);
    for (const [name, target] of Object.entries(others))
      add(name as Name, await load(target, concurrency, length * OTHERS_SHARE));
  }
  const worst = (what: keyof Cell["eventLoop"]): number =>
    Math.max(...slices.map(({ eventLoop }) => eventLoop[what]));
  const drainMs = Math.max(...slices.map((slice) => slice.drainMs));
  return {
    measured,
    openTurns: slices.flatMap(({ open }) => open),
    slicesAgain,
    drainMs,
    eventLoop: { p50: worst("p50"), p99: worst("p99"), max: worst("max") },
  };
}

/** The scripted provider as a process of its own, so that it shares no event loop with the load. */
async function startProvider(firstTokenMs: string, pieces: string): Promise<{ url: string; stop(): void }> {
  const settings = [
    "--dimensions",
    "64",
    "--first-token-ms",
    firstTokenMs,
    "--pieces",
    pieces,
    "--tool",
    "current_time",
  ];
  const child = spawn(process.execPath, ["test/support/provider/scripted-provider-main.ts", ...settings], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [url] = (await once(createInterface(child.stdout), "line")) as [string];
  return { url, stop: () => void child.kill("SIGTERM") };
}

async function startBench(firstTokenMs: string, { pieces, litellm: binary }: Options): Promise<Bench> {
  const provider = await startProvider(firstTokenMs, pieces);
  const stack = await startStack({ env: { OPENAI_BASE_URL: provider.url, LOG_LEVEL: "warn" } });
  const [metricsPort, eventLoopPort] = [await freePort(), await freePort()];
  await stack.api.kill("SIGTERM");
  await stack.restartApi({
    METRICS_PORT: String(metricsPort),
    EVENT_LOOP_PORT: String(eventLoopPort),
    NODE_OPTIONS: `--import=${join(import.meta.dirname, "event-loop-delay.ts")}`,
  });
  const connection = await Connection.connect({ address: stack.temporalAddress });
  const litellm = binary === undefined ? undefined : await startLiteLlm(binary, provider.url);
  const { workflow } = new Client({ connection });
  const bench: Bench = {
    stack,
    litellm,
    providerUrl: provider.url,
    async openTurns() {
      const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
      return [...text.matchAll(/^holdfast_chat_turns_open\{.*\} (\d+)$/gm)].reduce(
        (sum, [, count]) => sum + Number(count),
        0,
      );
    },
    openWorkflows: async () =>
      (
        await workflow.count(
          "ExecutionStatus = 'Running' AND (WorkflowType = 'chatTurns' OR WorkflowType = 'chatTurn')",
        )
      ).count,
    eventLoop: async () =>
      (await fetch(`http://127.0.0.1:${eventLoopPort}/`)).json() as Promise<Cell["eventLoop"]>,
    async close() {
      await litellm?.stop();
      await connection.close();
      await stack.close();
      provider.stop();
    },
  };
  await ended(
    stack.url,
    KEYS.owner,
    (await upload(stack.url, KEYS.owner, SPACES.research, NOTE, "revenue.md")).id,
  );
  await until("chat is ready", () => ask(targetsOf("plain", bench).get("holdfast")!));
  return bench;
}

/** LiteLLM has agents of neither kind: it is compared with plain ones only. */
function targetsOf(
  agent: string,
  { providerUrl, stack, litellm }: Pick<Bench, "providerUrl" | "stack" | "litellm">,
): Map<Name, Target> {
  const messages = [{ role: "user", content: "How did revenue develop over the last year?" }];
  const body = (model: string): string => JSON.stringify({ model, messages, stream: true });
  const targets = new Map<Name, Target>([
    [
      "holdfast",
      {
        url: `${stack.url}/v1/chat/completions`,
        headers: { authorization: `Bearer ${KEYS.owner}` },
        body: body(MODELS[agent] ?? agent),
      },
    ],
    [
      "direct",
      {
        url: `${providerUrl}/chat/completions`,
        headers: { authorization: "Bearer sk-scripted" },
        body: body("scripted-chat"),
        calls: agent === "tool" ? 2 : 1,
      },
    ],
  ]);
  if (litellm !== undefined && agent === "plain")
    targets.set("litellm", {
      url: `${litellm.url}/v1/chat/completions`,
      headers: { authorization: `Bearer ${litellm.key}` },
      body: body("bench"),
    });
  return targets;
}

const HEAD = [
  "| provider's delay (ms) | agent | at once | first token directly (ms) | Holdfast adds (ms) | whole " +
    "answer adds (ms) | requests/s | LiteLLM adds (ms) | its requests/s | open turns | slices again | " +
    "drained in (ms) | event loop p99 / max (ms) | failed |",
  "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|",
].join("\n");

function row(
  delay: string,
  agent: string,
  atOnce: number,
  { measured, openTurns, slicesAgain, drainMs, eventLoop }: Cell,
): string {
  const at = (name: Name, what: keyof Sample, share: number): number =>
    percentile(
      (measured.get(name)?.samples ?? []).map((sample) => sample[what]),
      share,
    );
  const pair = (of: (share: number) => number): string =>
    [0.5, 0.95].map((share) => of(share).toFixed(1)).join(" / ");
  const adds = (name: Name, what: keyof Sample): string =>
    measured.has(name) ? pair((share) => at(name, what, share) - at("direct", what, share)) : "–";
  const rate = (name: Name): string =>
    measured.has(name) ? (measured.get(name)!.samples.length / measured.get(name)!.seconds).toFixed(0) : "–";
  const failed = [...measured.values()].reduce((sum, { failures }) => sum + failures, 0);
  return `| ${[
    delay,
    agent,
    atOnce,
    pair((share) => at("direct", "firstMs", share)),
    adds("holdfast", "firstMs"),
    adds("holdfast", "totalMs"),
    rate("holdfast"),
    adds("litellm", "firstMs"),
    rate("litellm"),
    `${Math.min(...openTurns)}–${Math.max(...openTurns)}`,
    slicesAgain,
    drainMs.toFixed(0),
    `${eventLoop.p99.toFixed(1)} / ${eventLoop.max.toFixed(1)}`,
    failed,
  ].join(" | ")} |`;
}

async function books(stack: Stack): Promise<Record<string, number>> {
  const { rows } = await stack.database.db.owner.query<{ status: string; count: number }>(
    "select status, count(*)::int as count from turns group by status",
  );
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
}

const say = (line: string): void => void process.stdout.write(`${line}\n`);

async function runDelay(delay: string, options: Options): Promise<void> {
  const bench = await startBench(delay, options);
  const seconds = Number(options.seconds);
  try {
    for (const agent of options.agents.split(",")) {
      for (const atOnce of options.concurrency.split(",").map(Number))
        say(row(delay, agent, atOnce, await measure(targetsOf(agent, bench), atOnce, seconds, bench)));
    }
    for (const kind of options.beside ? UPLOADED : []) {
      const beside = runBeside(bench.stack.url, kind);
      const targets = targetsOf("plain", { ...bench, litellm: undefined });
      const cell = await measure(targets, BESIDE_AT_ONCE, seconds, bench);
      say(row(delay, `plain, ${await beside.stop()}`, BESIDE_AT_ONCE, cell));
    }
    process.stderr.write(`turns in the books: ${JSON.stringify(await books(bench.stack))}\n`);
  } finally {
    await bench.close();
  }
}

async function run(options: Options): Promise<void> {
  const stop = await setup();
  try {
    say(
      `${cpus().length} × ${cpus()[0]?.model.trim()}, Node ${process.version}; load, provider, API, ` +
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

/** Undefined where it is not installed. */
function installedLiteLlm(): string | undefined {
  return (process.env["PATH"] ?? "")
    .split(delimiter)
    .map((folder) => join(folder, "litellm"))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
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
