/** What Holdfast adds to the first token of a chat, against the model provider asked directly: in turn, in one run. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { Agent, request } from "node:http";
import { cpus } from "node:os";
import { createInterface } from "node:readline";
import { Client, Connection } from "@temporalio/client";
import { Command } from "commander";
import setup from "../test/support/global-setup.ts";
import { type Stack, startStack } from "../test/support/stack.ts";
import { AGENTS, KEYS } from "../test/support/tenants.ts";
import { until } from "../test/support/until.ts";

interface Options {
  readonly seconds: string;
  readonly concurrency: string;
  readonly firstTokenMs: string;
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

/** Direct and through the service alternate in slices of this length, so that both see the same machine. */
const SLICE_SECONDS = 5;
const WARM_UP_SECONDS = 3;
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

interface Cell {
  readonly direct: Sample[];
  readonly service: Sample[];
  readonly perSecond: number;
  readonly failures: number;
  readonly openTurns: number[];
  readonly drainMs: number;
}

async function measure(targets: { direct: Target; service: Target }, concurrency: number, seconds: number, openTurns: () => Promise<number>): Promise<Cell> {
  const [direct, service]: [Sample[], Sample[]] = [[], []];
  const open: number[] = [];
  let [serviceSeconds, failures] = [0, 0];
  await load(targets.service, concurrency, WARM_UP_SECONDS);
  for (let spent = 0; spent < seconds; spent += SLICE_SECONDS) {
    const slice = Math.min(SLICE_SECONDS, seconds - spent);
    direct.push(...(await load(targets.direct, concurrency, slice)).samples);
    const measured = await load(targets.service, concurrency, slice);
    open.push(await openTurns());
    service.push(...measured.samples);
    serviceSeconds += measured.seconds;
    failures += measured.failures;
  }
  const endedAt = performance.now();
  await until("the turns' workflows have drained", async () => (await openTurns()) === 0, DRAIN_MS);
  return { direct, service, perSecond: service.length / serviceSeconds, failures, openTurns: open, drainMs: performance.now() - endedAt };
}

/** The scripted provider as a process of its own, so that it shares no event loop with the load. */
async function startProvider(firstTokenMs: string): Promise<{ url: string; stop(): void }> {
  const child = spawn(process.execPath, ["test/support/scripted-provider-main.ts", "--dimensions", "64", "--first-token-ms", firstTokenMs], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [url] = (await once(createInterface(child.stdout), "line")) as [string];
  return { url, stop: () => void child.kill("SIGTERM") };
}

async function books(stack: Stack): Promise<Record<string, number>> {
  const { rows } = await stack.database.db.owner.query<{ status: string; count: number }>("select status, count(*)::int as count from turns group by status");
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
}

async function run({ seconds, concurrency, firstTokenMs }: Options): Promise<void> {
  const say = (line: string): void => void process.stdout.write(`${line}\n`);
  const stop = await setup();
  const provider = await startProvider(firstTokenMs);
  const stack = await startStack({ env: { OPENAI_BASE_URL: provider.url, LOG_LEVEL: "warn" } });
  const connection = await Connection.connect({ address: stack.temporalAddress });
  try {
    const { workflow } = new Client({ connection });
    const openTurns = async (): Promise<number> => (await workflow.count("ExecutionStatus = 'Running' AND (WorkflowType = 'chatTurns' OR WorkflowType = 'chatTurn')")).count;
    const messages = [{ role: "user", content: "How did revenue develop over the last year?" }];
    const targets = {
      direct: {
        url: `${provider.url}/chat/completions`,
        headers: { authorization: "Bearer sk-scripted" },
        body: JSON.stringify({ model: "scripted-chat", messages, stream: true }),
      },
      service: {
        url: `${stack.url}/v1/chat/completions`,
        headers: { authorization: `Bearer ${KEYS.owner}` },
        body: JSON.stringify({ model: AGENTS.public, messages, stream: true }),
      },
    };
    await until("chat is ready", () => ask(targets.service));
    say(`${cpus().length} × ${cpus()[0]?.model.trim()}, Node ${process.version}; load, provider, API, worker, Temporal and Postgres on this machine`);
    say(`provider: ${firstTokenMs} ms to its first token; ${seconds} s a cell through the service, as long directly, in slices of ${SLICE_SECONDS} s in turn`);
    say(
      "| at once | first token directly p50 / p95 (ms) | through Holdfast | added | whole answer added p50 (ms) | requests/s | failed | open workflows at slice ends | drained in (ms) |",
    );
    say("|---|---|---|---|---|---|---|---|---|");
    for (const atOnce of concurrency.split(",").map(Number)) {
      const cell = await measure(targets, atOnce, Number(seconds), openTurns);
      const first = (samples: Sample[], share: number) =>
        percentile(
          samples.map((sample) => sample.firstMs),
          share,
        );
      const pair = (samples: Sample[]) => `${first(samples, 0.5).toFixed(1)} / ${first(samples, 0.95).toFixed(1)}`;
      const added = [0.5, 0.95].map((share) => (first(cell.service, share) - first(cell.direct, share)).toFixed(1)).join(" / ");
      const whole =
        percentile(
          cell.service.map((sample) => sample.totalMs),
          0.5,
        ) -
        percentile(
          cell.direct.map((sample) => sample.totalMs),
          0.5,
        );
      say(
        `| ${atOnce} | ${pair(cell.direct)} | ${pair(cell.service)} | ${added} | ${whole.toFixed(1)} | ${cell.perSecond.toFixed(0)} | ${cell.failures} | ${cell.openTurns.join(" ")} | ${cell.drainMs.toFixed(0)} |`,
      );
    }
    say(`turns in the books: ${JSON.stringify(await books(stack))}`);
  } finally {
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
  .action(run)
  .parseAsync();
