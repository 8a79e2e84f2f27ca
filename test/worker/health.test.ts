import { createServer } from "node:net";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { isHopeless } from "../../src/domain/expected-failure.ts";
import { serveHealth } from "../../src/worker/health.ts";

const answering = (): Promise<void> => Promise.resolve();

async function ask(port: number, path: string): Promise<[number, object]> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`);
  return [response.status, (await response.json()) as object];
}

test("a worker is ready while it polls and its dependencies answer, else alive but not ready", async () => {
  const state = { polls: true, database: answering, workflows: answering };
  const health = await serveHealth({
    port: 0,
    host: "127.0.0.1",
    freshMs: 0,
    isPolling: () => state.polls,
    probes: { database: () => state.database(), workflows: () => state.workflows() },
  });
  const ready = { status: "ready", polls: true, database: true, workflows: true };
  expect(await ask(health.port, "/health/ready")).toEqual([200, ready]);
  for (const [change, seen] of [
    [{ polls: false }, { polls: false }],
    [{ database: () => Promise.reject(new Error("away")) }, { database: false }],
    [{ workflows: () => new Promise<void>(() => undefined) }, { workflows: false }],
  ] as const) {
    Object.assign(state, { polls: true, database: answering, workflows: answering }, change);
    expect(await ask(health.port, "/health/ready")).toEqual([
      503,
      { ...ready, status: "unavailable", ...seen },
    ]);
    expect(await ask(health.port, "/health")).toEqual([200, { status: "ok" }]);
  }
  Object.assign(state, { workflows: answering });
  health.drain();
  expect(await ask(health.port, "/health/ready")).toEqual([503, { ...ready, status: "draining" }]);
  expect((await fetch(`http://127.0.0.1:${health.port}/metrics`)).status).toBe(404);
  await health.close();
});

test("parallel requests ask each dependency once", async () => {
  let asked = 0;
  const count = (): Promise<void> => {
    asked += 1;
    return Promise.resolve();
  };
  const health = await serveHealth({
    port: 0,
    host: "127.0.0.1",
    isPolling: () => true,
    probes: { database: count, workflows: count },
  });
  const answers = await Promise.all(Array.from({ length: 20 }, () => ask(health.port, "/health/ready")));
  expect(answers.every(([status]) => status === 200)).toBe(true);
  expect(asked).toBe(2);
  await health.close();
});

test("a port in use is reported by its setting's name, and a restart may help", async () => {
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  const { port } = taken.address() as AddressInfo;
  const opened = serveHealth({
    port,
    host: "127.0.0.1",
    isPolling: () => true,
    probes: { database: answering, workflows: answering },
  });
  await expect(opened).rejects.toSatisfy((error) => !isHopeless(error));
  await expect(opened).rejects.toThrow("Cannot listen on HEALTH_PORT: EADDRINUSE");
  taken.close();
});
