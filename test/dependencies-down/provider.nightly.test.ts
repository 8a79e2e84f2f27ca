/** What each part of the API does while the model provider is down. */
import { beforeAll, beforeEach, expect, test } from "vitest";
import { ended, fileForm } from "../support/clients/client.ts";
import { type DependencyCalls, dependencyCalls } from "../support/clients/dependency-calls.ts";
import { onKillableStack } from "../support/stack/shared-stack.ts";
import { until } from "../support/until.ts";

const { stack, tenants } = onKillableStack({ env: { CHAT_TURN_SECONDS: "3" } });
let calls: DependencyCalls;

beforeAll(async () => {
  calls = dependencyCalls(stack, tenants);
  await calls.chatIsReady();
});
beforeEach(() => stack.provider.clearFaults());

test("pipelines wait and lose nothing; search answers by words alone and says so", async () => {
  const [document, deleted] = [await calls.completed(), await calls.completed()];
  stack.provider.failEmbeddings({ status: 503 });
  // A text that was embedded before would not need the provider.
  const accepted = await calls.send(
    "POST",
    "/data/upload",
    fileForm("# Tapirs\n\nTapirs are no rodents at all.", "tapirs.md", { space_id: tenants.spaces.research }),
  );
  expect(accepted.status).toBe(201);
  expect(
    (await calls.send("POST", `/data/${document.id}/reprocess`, { chunker_name: "sentence" })).status,
  ).toBe(202);
  await until("the run says what it waits for", async () => {
    const { body } = await calls.send("GET", `/data/${accepted.body.id}/versions`);
    return (
      (await calls.send("GET", `/data/runs/${body.items[0].pipeline_run_id}`)).body.waiting_for ===
      "provider_unavailable"
    );
  });

  const found = await calls.send("POST", "/data/hybrid-search", {
    query: "which rodents are the largest today",
    space_id: tenants.spaces.research,
  });
  expect(found.status).toBe(200);
  expect(found.headers.get("warning")).toMatch(/^199 holdfast "/);
  expect(found.body.results.length).toBeGreaterThan(0);
  for (const hit of found.body.results)
    expect(hit).toMatchObject({ dense_score: null, sparse_score: expect.any(Number) });
  expect((await calls.send("GET", `/data/${document.id}`)).status).toBe(200);
  expect(
    (await calls.send("POST", "/data/batch-reprocess", { document_ids: [document.id] })).body,
  ).toMatchObject({ accepted: 1 });
  expect((await calls.send("DELETE", `/data/${deleted.id}`)).status).toBe(204);

  stack.provider.clearFaults();
  for (const id of [accepted.body.id, document.id])
    expect((await ended(stack.url, tenants.keys.owner, id, 60_000)).processing_state.pipeline_status).toBe(
      "completed",
    );
  expect((await calls.search()).headers.get("warning")).toBeNull();
}, 120_000);

test.each([
  ["its rate limit", { status: 429, headers: { "retry-after": "7" } }, 429, "7", null],
  ["its time-out", { status: 504 }, 504, null, null],
  ["its outage", { status: 500 }, 502, null, null],
  ["its refusal", { status: 400 }, 502, null, "false"],
  ["an answer that is none", { garbage: true as const }, 502, null, null],
])("chat tells %s", async (_what, fault, status, retryAfter, shouldRetry) => {
  stack.provider.failChat(fault);
  for (const answer of await Promise.all([calls.chat(), calls.chat(true)])) {
    expect(answer).toMatchObject({ status, body: { detail: expect.any(String) } });
    expect(answer.headers.get("retry-after")).toBe(retryAfter);
    expect(answer.headers.get("x-should-retry")).toBe(shouldRetry);
  }
});

test("a provider that never answers delays neither a search nor the stop of an API process", async () => {
  stack.provider.failEmbeddings({ hang: true });
  const found = await calls.send("POST", "/data/hybrid-search", {
    query: "rodents that are large",
    space_id: tenants.spaces.research,
  });
  expect(found.status).toBe(200);
  expect(found.headers.get("warning")).toMatch(/^199 holdfast "/);
  const toldAt = performance.now();
  await stack.api.kill("SIGTERM");
  expect(stack.api.child.exitCode).toBe(0);
  // A request to the provider times out after 30 seconds, and this one was sent two seconds earlier.
  expect(performance.now() - toldAt).toBeLessThan(25_000);
});
