/**
 * Several API and worker processes share one Postgres and one Temporal, as in production: each is replaced
 * under load without a failed request.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { freePort } from "../../src/embedded/ports.ts";
import { type Answer, call, ended, fileForm } from "../support/clients/client.ts";
import { type TestProcess, startProcess } from "../support/stack/processes.ts";
import { type Proxy, startProxy } from "../support/servers/proxy.ts";
import { onOwnStack } from "../support/stack/own-stack.ts";
import { until } from "../support/until.ts";

const TEXT = "# Capybaras\n\nCapybaras are the largest rodents that live today.";
/** Longer than the proxy takes to notice that a backend is not ready, also on a machine that is busy. */
const DRAIN = { DRAIN_DELAY_SECONDS: "3" };

const { stack, tenants } = onOwnStack({ keepsWorkflows: true, env: DRAIN });
let second: {
  readonly url: string;
  api: TestProcess;
  worker: TestProcess;
  readonly env: Record<string, string>;
};
let proxy: Proxy;

beforeAll(async () => {
  const port = String(await freePort());
  const env = { ...stack.env, PORT: port };
  second = {
    url: `http://127.0.0.1:${port}`,
    env,
    api: startProcess("src/api/main.ts", env),
    worker: startProcess("src/worker/main.ts", env),
  };
  proxy = await startProxy([stack.url, second.url]);
  await bothReady();
});

afterAll(async () => {
  proxy.close();
  await Promise.all([second.api.kill("SIGTERM"), second.worker.kill("SIGTERM")]);
});

const bothReady = () => until("both API processes are ready", () => proxy.ready().length === 2, 60_000);
const say = (body: object): Promise<Answer> =>
  call(proxy.url, tenants.keys.editor, "POST", "/chat/completions", {
    model: tenants.agents.analyst,
    messages: [{ role: "user", content: "hi" }],
    ...body,
  });

/** Between two requests of a kind: what is replaced needs the processor more than those who ask. */
const PAUSE_MS = 100;

/** Repeats requests of each kind until it is stopped. */
function startLoad() {
  const failed: string[] = [];
  const documents: string[] = [];
  let sent = 0;
  let isOver = false;
  const repeat = async (
    what: string,
    ask: () => Promise<Answer>,
    isRight: (answer: Answer) => boolean,
  ): Promise<void> => {
    while (!isOver) {
      sent += 1;
      try {
        const answer = await ask();
        if (!isRight(answer))
          failed.push(`${what}: ${answer.status} ${JSON.stringify(answer.body).slice(-300)}`);
      } catch (error) {
        failed.push(`${what}: ${String(error)} ${String((error as Error).cause)}`);
      }
      await sleep(PAUSE_MS);
    }
  };
  const kinds = [
    repeat(
      "list",
      () => call(proxy.url, tenants.keys.editor, "POST", "/data/search", {}),
      ({ status }) => status === 200,
    ),
    repeat(
      "search",
      () =>
        call(proxy.url, tenants.keys.editor, "POST", "/data/hybrid-search", {
          query: "largest rodents",
          space_id: tenants.spaces.research,
        }),
      ({ status }) => status === 200,
    ),
    repeat(
      "upload",
      () =>
        call(
          proxy.url,
          tenants.keys.editor,
          "POST",
          "/data/upload",
          fileForm(TEXT, "a.md", { space_id: tenants.spaces.research }),
        ),
      ({ status, body }) => {
        if (status === 201) documents.push(body.id);
        return status === 201;
      },
    ),
    repeat(
      "chat",
      () => say({}),
      ({ status }) => status === 200,
    ),
    repeat(
      "streamed chat",
      () => say({ stream: true }),
      ({ status, body }) => status === 200 && body.trimEnd().endsWith("[DONE]"),
    ),
  ];
  return {
    documents,
    sent: () => sent,
    async end(): Promise<string[]> {
      isOver = true;
      await Promise.all(kinds);
      return failed;
    },
  };
}

test("replacing every process in turn fails no request, and what was accepted completes", async () => {
  stack.provider.replyAlways({ pieces: ["one ", "two ", "three"], delayMsBetweenPieces: 100 });
  const load = startLoad();
  const served = async (): Promise<void> => {
    const before = load.sent();
    await until("requests go on", () => load.sent() > before + 25);
  };
  await served();
  await stack.api.kill("SIGTERM");
  await stack.restartApi();
  await bothReady();
  await second.api.kill("SIGTERM");
  second.api = startProcess("src/api/main.ts", second.env);
  await bothReady();
  await stack.worker.kill("SIGTERM");
  stack.restartWorker();
  await second.worker.kill("SIGTERM");
  second.worker = startProcess("src/worker/main.ts", second.env);
  await served();
  expect(await load.end()).toEqual([]);
  expect(load.documents.length).toBeGreaterThan(10);
  for (const id of load.documents)
    expect((await ended(proxy.url, tenants.keys.editor, id, 60_000)).processing_state.pipeline_status).toBe(
      "completed",
    );
}, 180_000);

test("a stopping process is unready before it closes its port, and reports every dependency", async () => {
  const ask = async () => {
    const response = await fetch(`${second.url}/health/ready`);
    return { status: response.status, body: (await response.json()) as { status: string } };
  };
  expect(await ask()).toEqual({
    status: 200,
    body: {
      status: "ready",
      dependencies: ["database", "workflows", "object_store", "disk"].map((name) => ({
        name,
        ok: true,
        ...(name === "object_store" ? { kind: "directory" } : {}),
        latency_ms: expect.any(Number),
      })),
    },
  });
  await stack.stopTemporal();
  expect(
    await until("the report is new", async () =>
      (await ask()).body.status === "degraded" ? await ask() : undefined,
    ),
  ).toMatchObject({
    status: 200,
    body: { dependencies: [{ ok: true }, { name: "workflows", ok: false }, { ok: true }, { ok: true }] },
  });
  await stack.restartTemporal();
  const stopped = second.api.kill("SIGTERM");
  await until("it drains", async () => {
    const { status, body } = await ask();
    return status === 503 && body.status === "draining";
  });
  await stopped;
  await expect(fetch(`${second.url}/health`)).rejects.toThrow("fetch failed");
});
