/** Metrics of both processes on the real stack: what is stuck shows, and what is whole counts no orphan. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { freePort } from "../../src/embedded/ports.ts";
import { ended, upload } from "../support/client.ts";
import { type Stack, startStack } from "../support/stack.ts";
import { KEYS, SPACES } from "../support/tenants.ts";
import { until } from "../support/until.ts";

let stack: Stack;
let ports: { api: number; worker: number };

beforeAll(async () => {
  ports = { api: await freePort(), worker: await freePort() };
  stack = await startStack({ env: { METRICS_PORT: String(ports.api) }, withoutWorker: true });
});

afterAll(() => stack.close());

/** Samples by name and labels, as the process shows them. */
async function scrape(port: number): Promise<Map<string, number>> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ") + 1))]));
}

const put = (text: string): Promise<{ id: string }> => upload(stack.url, KEYS.editor, SPACES.research, text);

test("work that nobody takes shows in the queue of Temporal and in its age", async () => {
  await put("Nobody is there to take it.");
  const seen = await until("the backlog shows", async () => {
    const samples = await scrape(ports.api);
    return (samples.get('holdfast_task_queue_backlog{queue="pipeline",type="workflow"}') ?? 0) > 0 && samples;
  });
  expect(seen.get('holdfast_task_queue_backlog_age_seconds{queue="pipeline",type="workflow"}')).toBeGreaterThanOrEqual(0);
  expect(seen.get('holdfast_runs{state="queued"}')).toBe(1);
  expect(seen.get('holdfast_oldest_run_seconds{state="queued"}')).toBeGreaterThan(0);
});

test("a run that waits for the provider says so; afterwards nothing is open, and nothing is an orphan", async () => {
  stack.provider.failEmbeddings({ status: 503 });
  stack.restartWorker({ METRICS_PORT: String(ports.worker) });
  const { id } = await put("It waits for the provider.");
  await until("the wait shows", async () => ((await scrape(ports.worker)).get('holdfast_runs{state="provider_unavailable"}') ?? 0) > 0);
  stack.provider.clearFaults();
  await ended(stack.url, KEYS.editor, id, 60_000);
  for (const port of [ports.api, ports.worker]) {
    const samples = await until("nothing is open", async () => {
      const now = await scrape(port);
      return [...now.keys()].every((name) => !name.startsWith("holdfast_runs")) && now;
    });
    const orphans = [...samples].filter(([name]) => name.startsWith("holdfast_orphans"));
    expect(orphans.length).toBeGreaterThan(5);
    expect(new Set(orphans.map(([, count]) => count))).toEqual(new Set([0]));
  }
});

test("a Temporal that is down costs its own metrics alone", async () => {
  await stack.stopTemporal();
  const samples = await scrape(ports.api);
  expect([...samples.keys()].filter((name) => name.startsWith("holdfast_task_queue"))).toEqual([]);
  expect(samples.has('holdfast_orphans{kind="chunks_without_run"}')).toBe(true);
});
