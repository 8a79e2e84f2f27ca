/** Measures what traces cost a chat: a service that sends spans and one that does not take turns. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { loadavg } from "node:os";
import { createInterface } from "node:readline";
import setup from "../../test/support/run/global-setup.ts";
import { ended, upload } from "../../test/support/clients/client.ts";
import { type Stack, startStack } from "../../test/support/stack/stack.ts";
import { AGENTS, KEYS, SPACES } from "../../test/support/tenants/tenants.ts";
import { until } from "../../test/support/until.ts";
import { type Measured, type Sample, type Target, ask, both, closeConnections, load } from "../chat/load.ts";
import { machine, percentile, say } from "../report.ts";

const AT_ONCE = 8;
const SECONDS = 50;
const SLICE_SECONDS = 5;
const WARM_UP_SECONDS = 3;
const NOTE =
  "# Revenue\n\nRevenue grew by 12 percent over the last year, to 48 million.\n\nCosts grew by 3 percent.\n";
const PROVIDER = ["--dimensions", "64", "--first-token-ms", "100", "--pieces", "20"];
const AGENT_IDS = { plain: AGENTS.public, rag: AGENTS.analyst };

function targetOf(stack: Stack, agent: string): Target {
  const body = {
    model: agent,
    messages: [{ role: "user", content: "How did revenue develop over the last year?" }],
    stream: true,
  };
  return {
    url: `${stack.url}/v1/chat/completions`,
    headers: { authorization: `Bearer ${KEYS.owner}` },
    body: JSON.stringify(body),
  };
}

async function startService(env: Record<string, string>): Promise<Stack> {
  const stack = await startStack({ env: { LOG_LEVEL: "warn", ...env } });
  await ended(
    stack.url,
    KEYS.owner,
    (await upload(stack.url, KEYS.owner, SPACES.research, NOTE, "revenue.md")).id,
  );
  await until("chat is ready", () => ask(targetOf(stack, AGENTS.public)));
  return stack;
}

async function measure(services: readonly [Stack, Stack], agent: string): Promise<[Measured, Measured]> {
  const targets = services.map((stack) => targetOf(stack, agent));
  for (const target of targets) await load(target, AT_ONCE, WARM_UP_SECONDS);
  const sums: [Measured | undefined, Measured | undefined] = [undefined, undefined];
  for (let spent = 0; spent < SECONDS; spent += SLICE_SECONDS) {
    for (const index of [0, 1] as const)
      sums[index] = both(sums[index], await load(targets[index]!, AT_ONCE, SLICE_SECONDS));
  }
  return [sums[0]!, sums[1]!];
}

function row(agent: string, [without, traced]: [Measured, Measured]): string {
  const median = ({ samples }: Measured, what: keyof Sample): number =>
    percentile(
      samples.map((sample) => sample[what]),
      0.5,
    );
  const rate = ({ samples, seconds }: Measured): number => samples.length / seconds;
  const pair = (one: number, other: number): string =>
    `${one.toFixed(1)} → ${other.toFixed(1)} (${(100 * (other / one - 1)).toFixed(1)} %)`;
  const cells = [
    agent,
    pair(median(without, "firstMs"), median(traced, "firstMs")),
    pair(median(without, "totalMs"), median(traced, "totalMs")),
    pair(rate(without), rate(traced)),
    traced.failures,
  ];
  return `| ${cells.join(" | ")} |`;
}

const stop = await setup();
const provider = spawn(process.execPath, ["test/support/provider/scripted-provider-main.ts", ...PROVIDER], {
  stdio: ["ignore", "pipe", "inherit"],
});
const [url] = (await once(createInterface(provider.stdout), "line")) as [string];
let sentBytes = 0;
/** Takes spans, counts their bytes and throws them away. */
const sink = createServer((request, response) => {
  request.on("data", (piece: Buffer) => {
    sentBytes += piece.length;
  });
  request.on("end", () => response.end("{}"));
}).listen(0, "127.0.0.1");
await once(sink, "listening");
const collector = `http://127.0.0.1:${(sink.address() as AddressInfo).port}`;
const services = [
  await startService({ OPENAI_BASE_URL: url }),
  await startService({ OPENAI_BASE_URL: url, OTEL_EXPORTER_OTLP_ENDPOINT: collector }),
] as const;
try {
  say(`${machine()}; load average ${loadavg()[0]?.toFixed(2)}`);
  say(
    "| agent | first token p50 (ms) | whole answer p50 (ms) | requests/s | failed |\n|---|---|---|---|---|",
  );
  for (const [name, agent] of Object.entries(AGENT_IDS)) say(row(name, await measure([...services], agent)));
  say(`\n${(sentBytes / 1e6).toFixed(1)} MB of spans were sent`);
} finally {
  closeConnections();
  for (const service of services) await service.close();
  provider.kill("SIGTERM");
  sink.close();
  await stop();
}
