/** What Holdfast adds to the first token of a chat, against the model provider asked directly and the LiteLLM proxy: in turn, in one run. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { Agent, request } from "node:http";
import { cpus, loadavg } from "node:os";
import { createInterface } from "node:readline";
import { Client, Connection } from "@temporalio/client";
import { Command } from "commander";
import { type LiteLlm, startLiteLlm } from "./litellm.ts";
import setup from "../test/support/global-setup.ts";
import { type Stack, startStack } from "../test/support/stack.ts";
import { ended, upload } from "../test/support/client.ts";
import { AGENTS, KEYS, SPACES } from "../test/support/tenants.ts";
import { until } from "../test/support/until.ts";

interface Options {
  readonly seconds: string;
  readonly concurrency: string;
  readonly firstTokenMs: string;
  readonly pieces: string;
  readonly agents: string;
  readonly litellm?: string;
}

interface Target {
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: string;
}

interface Sample {
  readonly firstMs: number;
  readonly totalMs: number;
}

interface Measured {
  readonly samples: Sample[];
  readonly seconds: number;
  failures: number;
}

/** What is compared takes turns, so that all see the same machine: the service for so long, then each other for a part of it. */
const SLICE_SECONDS = 15;
const OTHERS_SHARE = 1 / 3;
const WARM_UP_SECONDS = 3;
const NOTE = "# Revenue\n\nRevenue grew by 12 percent over the last year, to 48 million.\n\nCosts grew by 3 percent.\n";
const DRAIN_MS = 60_000;

const connections = new Agent({ keepAlive: true, maxSockets: 256 });

/** One streamed chat; the first token is the first event that has content. */
function ask({ url, headers, body }: Target): Promise<Sample> {
  return new Promise((resolve, reject) => {
    const startedAt = performance.now();
    let firstMs: number | undefined;
    let tail = "";
    const made = request(url, { method: "POST", agent: connections, headers: { "content-type": "application/json", ...headers } }, (response) => {
      response.setEncoding("utf8");
      response.on("data", (text: string) => {
        if (firstMs === undefined && /"content":"[^"]/.test(text)) firstMs = performance.now() - startedAt;
        tail = (tail + text).slice(-40);
      });
      response.on("end", () => {
        if (response.statusCode === 200 && firstMs !== undefined && tail.includes("[DONE]")) resolve({ firstMs, totalMs: performance.now() - startedAt });
        else reject(new Error(`answered ${response.statusCode}: ${tail}`));
      });
      response.on("error", reject);
    });
    made.on("error", reject);
    made.end(body);
  });
}

/** Keeps `concurrency` chats under way for `seconds`. */
async function load(target: Target, concurrency: number, seconds: number): Promise<Measured> {
  const measured: Measured = { samples: [], seconds, failures: 0 };
  const until = performance.now() + seconds * 1_000;
  const one = async (): Promise<void> => {
    while (performance.now() < until) {
      await ask(target).then(
        (sample) => measured.samples.push(sample),
        () => (measured.failures += 1),
      );
    }
  };
  await Promise.all(Array.from({ length: concurrency }, one));
  return measured;
}

function percentile(values: readonly number[], share: number): number {
  return values.toSorted((one, other) => one - other)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? Number.NaN;
}

type Name = "direct" | "holdfast" | "litellm";

interface Cell {
  readonly measured: Map<Name, Measured>;
  readonly openWorkflows: number[];
  readonly drainMs: number;
}

async function measure(targets: ReadonlyMap<Name, Target>, concurrency: number, seconds: number, openWorkflows: () => Promise<number>): Promise<Cell> {
  const measured = new Map<Name, Measured>();
  const open: number[] = [];
  let endedAt = 0;
  for (const target of targets.values()) await load(target, concurrency, WARM_UP_SECONDS);
  for (let spent = 0; spent < seconds; spent += SLICE_SECONDS) {
    const slice = Math.min(SLICE_SECONDS, seconds - spent);
    for (const [name, target] of targets) {
      const part = await load(target, concurrency, name === "holdfast" ? slice : slice * OTHERS_SHARE);
      if (name === "holdfast") open.push(await openWorkflows());
      endedAt = performance.now();
      const sum = measured.get(name);
      measured.set(name, sum === undefined ? part : { samples: sum.samples.concat(part.samples), seconds: sum.seconds + part.seconds, failures: sum.failures + part.failures });
    }
  }
  await until("the turns' workflows have drained", async () => (await openWorkflows()) === 0, DRAIN_MS);
  return { measured, openWorkflows: open, drainMs: performance.now() - endedAt };
}

/** The scripted provider as a process of its own, so that it shares no event loop with the load. */
async function startProvider({ firstTokenMs, pieces }: Options): Promise<{ url: string; stop(): void }> {
  const settings = ["--dimensions", "64", "--first-token-ms", firstTokenMs, "--pieces", pieces, "--tool", "current_time"];
  const child = spawn(process.execPath, ["test/support/scripted-provider-main.ts", ...settings], { stdio: ["ignore", "pipe", "inherit"] });
  const [url] = (await once(createInterface(child.stdout), "line")) as [string];
  return { url, stop: () => void child.kill("SIGTERM") };
}

async function books(stack: Stack): Promise<Record<string, number>> {
  const { rows } = await stack.database.db.owner.query<{ status: string; count: number }>("select status, count(*)::int as count from turns group by status");
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
}

const MODELS: Record<string, string> = { plain: AGENTS.public, rag: AGENTS.analyst, tool: AGENTS.librarian };

function targetsOf(agent: string, urls: { provider: string; service: string; litellm: LiteLlm | undefined }): Map<Name, Target> {
  const messages = [{ role: "user", content: "How did revenue develop over the last year?" }];
  const body = (model: string): string => JSON.stringify({ model, messages, stream: true });
  const targets = new Map<Name, Target>([
    ["holdfast", { url: `${urls.service}/v1/chat/completions`, headers: { authorization: `Bearer ${KEYS.owner}` }, body: body(MODELS[agent] ?? agent) }],
    ["direct", { url: `${urls.provider}/chat/completions`, headers: { authorization: "Bearer sk-scripted" }, body: body("scripted-chat") }],
  ]);
  if (urls.litellm !== undefined)
    targets.set("litellm", { url: `${urls.litellm.url}/v1/chat/completions`, headers: { authorization: `Bearer ${urls.litellm.key}` }, body: body("bench") });
  return targets;
}

function row(agent: string, atOnce: number, { measured, openWorkflows, drainMs }: Cell): string {
  const all = (name: Name, what: keyof Sample, share: number): number =>
    percentile(
      (measured.get(name)?.samples ?? []).map((sample) => sample[what]),
      share,
    );
  const pair = (name: Name): string => [0.5, 0.95].map((share) => all(name, "firstMs", share).toFixed(1)).join(" / ");
  const added = (name: Name, what: keyof Sample, share: number): string => (all(name, what, share) - all("direct", what, share)).toFixed(1);
  const rate = (name: Name): string => ((measured.get(name)?.samples.length ?? Number.NaN) / (measured.get(name)?.seconds ?? 1)).toFixed(0);
  const of = (name: Name): string[] =>
    measured.has(name)
      ? [pair(name), `${added(name, "firstMs", 0.5)} / ${added(name, "firstMs", 0.95)}`, added(name, "totalMs", 0.5), rate(name), String(measured.get(name)?.failures)]
      : Array.from({ length: 5 }, () => "–");
  return `| ${[agent, atOnce, pair("direct"), ...of("holdfast"), openWorkflows.join(" "), drainMs.toFixed(0), ...of("litellm")].join(" | ")} |`;
}

async function run(options: Options): Promise<void> {
  const say = (line: string): void => void process.stdout.write(`${line}\n`);
  const stop = await setup();
  const provider = await startProvider(options);
  const stack = await startStack({ env: { OPENAI_BASE_URL: provider.url, LOG_LEVEL: "warn" } });
  const connection = await Connection.connect({ address: stack.temporalAddress });
  const litellm = options.litellm === undefined ? undefined : await startLiteLlm(options.litellm, provider.url);
  try {
    const { workflow } = new Client({ connection });
    const openWorkflows = async (): Promise<number> => (await workflow.count("ExecutionStatus = 'Running' AND (WorkflowType = 'chatTurns' OR WorkflowType = 'chatTurn')")).count;
    const urls = { provider: provider.url, service: stack.url, litellm };
    await ended(stack.url, KEYS.owner, (await upload(stack.url, KEYS.owner, SPACES.research, NOTE, "revenue.md")).id);
    await until("chat is ready", () => ask(targetsOf("plain", urls).get("holdfast")!));
    say(
      `${cpus().length} × ${cpus()[0]?.model.trim()}, Node ${process.version}; load, provider, API, worker, Temporal and Postgres on this machine; load average ${loadavg()[0]?.toFixed(2)}`,
    );
    say(
      `provider: ${options.firstTokenMs} ms to its first token, ${options.pieces} pieces an answer; ${options.seconds} s a cell, in slices of ${SLICE_SECONDS} s, the others a third of it`,
    );
    say(
      "| agent | at once | first token directly p50 / p95 (ms) | Holdfast | added | whole answer added p50 | requests/s | failed | open workflows at slice ends | drained in (ms) | LiteLLM | added | whole answer added p50 | requests/s | failed |",
    );
    say("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    for (const agent of options.agents.split(",")) {
      for (const atOnce of options.concurrency.split(",").map(Number)) {
        say(row(agent, atOnce, await measure(targetsOf(agent, urls), atOnce, Number(options.seconds), openWorkflows)));
      }
    }
    say(`turns in the books: ${JSON.stringify(await books(stack))}`);
  } finally {
    await litellm?.stop();
    await connection.close();
    connections.destroy();
    await stack.close();
    provider.stop();
    await stop();
  }
}

await new Command()
  .description("Measures what the service adds to a chat's first token.")
  .option("--seconds <n>", "seconds a cell", "60")
  .option("--concurrency <list>", "chats at once, a cell each", "1,8,32")
  .option("--first-token-ms <n>", "the provider's time to its first token", "0")
  .option("--pieces <n>", "pieces of the provider's answers", "4")
  .option("--agents <list>", "plain, rag (searches first), tool (one tool, two model calls)", "plain")
  .option("--litellm <path>", "the litellm binary of pip install 'litellm[proxy]'")
  .action(run)
  .parseAsync();
