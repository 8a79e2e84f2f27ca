/** Metrics of both processes on the real stack: stuck work is visible, and intact data counts no orphan. */
import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { freePort } from "../../src/embedded/ports.ts";
import { call, ended, upload } from "../support/clients/client.ts";
import { type Stack, startStack } from "../support/stack/stack.ts";
import { ACME, AGENTS, KEYS, SPACES } from "../support/tenants/tenants.ts";
import { until } from "../support/until.ts";

let stack: Stack;
let ports: { api: number; worker: number };

beforeAll(async () => {
  ports = { api: await freePort(), worker: await freePort() };
  stack = await startStack({
    env: { METRICS_PORT: String(ports.api), CHAT_RATE_LIMIT_RPM: "1" },
    withoutWorker: true,
  });
});

afterAll(() => stack.close());

async function page(port: number): Promise<string> {
  return (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
}

/** Reads the samples of a process, by name and labels. */
async function scrape(port: number): Promise<Map<string, number>> {
  const text = await page(port);
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(
    lines.map((line) => [
      line.slice(0, line.lastIndexOf(" ")),
      Number(line.slice(line.lastIndexOf(" ") + 1)),
    ]),
  );
}

const put = (text: string): Promise<{ id: string }> => upload(stack.url, KEYS.editor, SPACES.research, text);

test("work that nobody takes shows in the queue of Temporal and in its age", async () => {
  await put("Nobody is there to take it.");
  const seen = await until("the backlog shows", async () => {
    const samples = await scrape(ports.api);
    return (samples.get('holdfast_task_queue_backlog{queue="pipeline",type="workflow"}') ?? 0) > 0 && samples;
  });
  expect(
    seen.get('holdfast_task_queue_backlog_age_seconds{queue="pipeline",type="workflow"}'),
  ).toBeGreaterThanOrEqual(0);
  expect(seen.get('holdfast_runs{state="queued"}')).toBe(1);
  expect(seen.get('holdfast_oldest_run_seconds{state="queued"}')).toBeGreaterThan(0);
});

test("a run that waits for the provider is counted; afterwards nothing is open or orphaned", async () => {
  stack.provider.failEmbeddings({ status: 503 });
  stack.restartWorker({ METRICS_PORT: String(ports.worker) });
  const { id } = await put("It waits for the provider.");
  await until(
    "the wait shows",
    async () => ((await scrape(ports.worker)).get('holdfast_runs{state="provider_unavailable"}') ?? 0) > 0,
  );
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

const SENTENCE = "Zebrafinken wandern im Herbst.";
const FILE_NAME = "zebrafinken-1964.md";

function chat(): Promise<{ status: number }> {
  return call(stack.url, KEYS.editor, "POST", "/chat/completions", {
    model: AGENTS.analyst,
    messages: [{ role: "user", content: "Wann wandern Zebrafinken?" }],
  });
}

test("requests, stages, provider calls, caches and refusals are counted, each for itself", async () => {
  const { id } = await upload(stack.url, KEYS.editor, SPACES.research, `${SENTENCE}\n`, FILE_NAME);
  await ended(stack.url, KEYS.editor, id);
  const search = (): Promise<{ status: number }> =>
    call(stack.url, KEYS.editor, "POST", "/data/hybrid-search", {
      space_id: SPACES.research,
      query: "Zebrafinken",
    });
  expect([(await search()).status, (await search()).status]).toEqual([200, 200]);
  stack.provider.failEmbeddings({ status: 429 }, 1);
  await call(stack.url, KEYS.editor, "POST", "/data/hybrid-search", {
    space_id: SPACES.research,
    query: "Herbst",
  });
  expect([(await chat()).status, (await chat()).status]).toEqual([200, 429]);
  await call(stack.url, KEYS.editor, "GET", `/nothing/${ACME}`);
  const api = await until("the turn has ended", async () => {
    const samples = await scrape(ports.api);
    return samples.get('holdfast_chat_turn_duration_seconds_count{status="completed"}') === 1 && samples;
  });
  const worker = await scrape(ports.worker);
  const prefix = "holdfast_http_request_duration_seconds_count";
  const requests = [...api]
    .filter(([name]) => name.startsWith(prefix) && /search|chat|unmatched|upload/.test(name))
    .map(([name, value]) => [name.slice(prefix.length), value]);
  expect(Object.fromEntries(requests)).toEqual({
    '{route="/v1/data/upload",method="POST",status="2xx"}': 3,
    '{route="/v1/data/hybrid-search",method="POST",status="2xx"}': 3,
    '{route="/v1/chat/completions",method="POST",status="2xx"}': 1,
    '{route="/v1/chat/completions",method="POST",status="4xx"}': 1,
    '{route="unmatched",method="other",status="4xx"}': 1,
  });
  expect(api.get('holdfast_rate_limited_total{budget="chat"}')).toBe(1);
  expect(api.get('holdfast_cache_lookups_total{cache="query_embedding",result="hit"}')).toBe(1);
  expect(
    api.get(
      "holdfast_provider_call_duration_seconds_count" +
        '{operation="embed_query",outcome="provider_rate_limited"}',
    ),
  ).toBe(1);
  expect(api.get('holdfast_provider_call_duration_seconds_count{operation="chat",outcome="ok"}')).toBe(1);
  expect(api.get("holdfast_provider_first_event_seconds_count")).toBe(1);
  expect(api.get('holdfast_provider_tokens_total{operation="chat",direction="output"}')).toBeGreaterThan(0);
  // Three searches by the route, and one by the agent.
  for (const stage of ["embed query", "wait", "scope", "dense", "sparse", "hits"])
    expect(api.get(`holdfast_search_stage_duration_seconds_count{stage="${stage}"}`)).toBe(4);
  for (const stage of ["read", "parse", "chunk", "write", "embed", "publish"])
    expect(worker.get(`holdfast_pipeline_stage_duration_seconds_count{stage="${stage}"}`)).toBeGreaterThan(0);
  expect(worker.get('holdfast_pipeline_outcomes_total{outcome="published",code="none"}')).toBe(3);
  expect(
    worker.get('holdfast_pipeline_outcomes_total{outcome="waiting",code="provider_unavailable"}'),
  ).toBeGreaterThan(0);
  expect(worker.get('holdfast_cache_lookups_total{cache="chunk_embedding",result="miss"}')).toBe(3);
  expect(worker.get('holdfast_provider_tokens_total{operation="embed",direction="input"}')).toBeGreaterThan(
    0,
  );
  expect(api.get('holdfast_pool_connections{pool="app",state="most"}')).toBe(10);
  expect(api.get('holdfast_pool_wait_seconds_count{pool="app"}')).toBeGreaterThan(0);
  expect(api.get('holdfast_chat_turns_open{state="answering"}')).toBe(0);
  expect(
    [...worker.keys()].some((name) => name.startsWith("temporal_activity_execution_latency_seconds_count{")),
  ).toBe(true);
  expect([...worker.keys()].some((name) => name.startsWith("temporal_worker_task_slots_available{"))).toBe(
    true,
  );
});

test("a worker reports the layers around its parser processes, and logs them once at start", async () => {
  const worker = await scrape(ports.worker);
  const layers = ["permissions", "limits", "network", "user", "privileges", "files", "calls"];
  for (const layer of layers)
    expect([0, 1]).toContain(worker.get(`holdfast_parser_sandbox{layer="${layer}"}`));
  expect(worker.get('holdfast_parser_sandbox{layer="permissions"}')).toBe(1);
  expect(stack.worker.output().match(/the parser's process: on: permissions/g)).toHaveLength(1);
});

test("nothing of a tenant is on the page: no name, no id, no text", async () => {
  const pages = (await page(ports.api)) + (await page(ports.worker));
  const planted = [
    ACME,
    "Acme",
    "acme.example",
    "Research",
    SPACES.research,
    AGENTS.analyst,
    "Analyst",
    KEYS.editor,
    "Zebrafinken",
    "zebrafinken",
    "editor",
  ];
  expect(planted.filter((text) => pages.includes(text))).toEqual([]);
});

test("the dashboard and the alerts name only metrics that the processes export", async () => {
  const pages = (await page(ports.api)) + (await page(ports.worker));
  const families = [...pages.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name, type]) =>
    type === "histogram" ? [`${name}_bucket`, `${name}_count`, `${name}_sum`] : [name],
  );
  const [dashboard, rules] = await Promise.all(
    ["deploy/grafana/holdfast.json", "deploy/prometheus/holdfast.rules.yml"].map((path) =>
      readFile(path, "utf8"),
    ),
  );
  expect(JSON.parse(dashboard!).panels.length).toBeGreaterThan(20);
  for (const rule of parse(rules!).groups[0].rules)
    expect([typeof rule.expr, typeof rule.annotations.summary, typeof rule.annotations.action]).toEqual([
      "string",
      "string",
      "string",
    ]);
  for (const text of [dashboard!, rules!]) {
    const named = new Set(text.match(/\b(?:holdfast|temporal|nodejs|process)_[a-z0-9_]+/g));
    expect(named.size).toBeGreaterThan(8);
    expect([...named].filter((name) => !families.includes(name))).toEqual([]);
  }
});

test("a Temporal that is down costs its own metrics alone", async () => {
  await stack.stopTemporal();
  const samples = await scrape(ports.api);
  expect([...samples.keys()].filter((name) => name.startsWith("holdfast_task_queue"))).toEqual([]);
  expect(samples.has('holdfast_orphans{kind="chunks_without_run"}')).toBe(true);
});
