/** What operators are told of dependencies that fail, with parts that fail on demand. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { watchDependencies } from "../../../src/api/operations/dependencies.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date", "performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

const later = (ms: number): unknown => vi.advanceTimersByTime(ms);

test("an outage has the moment of its first failure until the dependency answers again", async () => {
  let isDown = false;
  const ask = () => (isDown ? Promise.reject(new Error("down")) : Promise.resolve("18.1"));
  const look = watchDependencies([{ name: "database", ask }], []);
  const database = async () => (await look()).dependencies[0];
  expect(await database()).toMatchObject({ ok: true, version: "18.1", failing_since: null });

  isDown = true;
  later(5_000);
  const began = new Date();
  expect(await database()).toMatchObject({ ok: false, version: null, failing_since: began });
  later(60_000);
  expect(await database()).toMatchObject({ ok: false, failing_since: began });

  isDown = false;
  later(5_000);
  expect(await database()).toMatchObject({ ok: true, failing_since: null });
});

test("many who look within two seconds cost one look", async () => {
  const ask = vi.fn<() => Promise<string>>(() => Promise.resolve("1"));
  const look = watchDependencies([{ name: "workflows", ask }], []);
  await Promise.all([look(), look()]);
  await look();
  expect(ask).toHaveBeenCalledTimes(1);
});

test("a provider is as its last calls were, and nobody knows of one that was never asked", async () => {
  const since = new Date(0);
  const failing = { isKnown: true, code: "provider_unavailable", since, nextAttemptAt: null };
  const look = watchDependencies(
    [],
    [
      { name: "embeddings", isBuiltIn: false, state: () => Promise.resolve(failing) },
      { name: "chat", isBuiltIn: false },
      { name: "reranker", isBuiltIn: true },
    ],
  );
  expect((await look()).dependencies).toMatchObject([
    { name: "embeddings", ok: false, code: "provider_unavailable", failing_since: since },
    { name: "chat", kind: "provider", ok: null },
    { name: "reranker", kind: "built_in", ok: true },
  ]);
});
