/** The endpoints of operators on the real stack: what they say is true, and is nobody else's to read. */
import { beforeAll, describe, expect, test } from "vitest";
import { operationRoutes } from "../../../../src/api/routes/operations/operations.ts";
import { type Answer, call, ended, upload } from "../../../support/clients/client.ts";
import { signedIn } from "../../../support/clients/signed-in.ts";
import { until } from "../../../support/until.ts";

const people = signedIn();
const { stack, tenants } = people;
let operator: string;

beforeAll(async () => {
  operator = await stack.issuer.token(`operator of ${tenants.domain}`, { roles: ["operators"] });
});

const look = (page: string): Promise<Answer> => call(stack.url, operator, "GET", `/operations/${page}`);
const named = (list: { name: string }[], name: string) => list.find((one) => one.name === name);

describe.each(operationRoutes.map(({ path }) => path))("%s", (path) => {
  test("answers an operator who is a member of no organization", async () => {
    expect(await call(stack.url, operator, "GET", path)).toMatchObject({ status: 200 });
  });

  test("refuses admins without the role, keys and strangers", async () => {
    expect(await people.as("ada", "GET", path)).toMatchObject({
      status: 403,
      body: { error: { code: "not_an_operator" } },
    });
    expect((await call(stack.url, tenants.keys.owner, "GET", path)).status).toBe(401);
    expect((await call(stack.url, null, "GET", path)).status).toBe(401);
  });

  test("names nothing that belongs to a tenant", async () => {
    const text = "# Secret heading\n\nA secret sentence.";
    const document = await upload(stack.url, tenants.keys.owner, tenants.spaces.research, text);
    const { body } = await call(stack.url, operator, "GET", path);
    await ended(stack.url, tenants.keys.owner, document.id);
    expect(JSON.stringify(body)).not.toMatch(/ecret|report\.txt/);
    expect(JSON.stringify(body)).not.toContain(tenants.domain);
  });
});

test("every dependency of the stack answers, with its version and its time", async () => {
  const { body } = await look("dependencies");
  expect(body.dependencies.map((one: { name: string }) => one.name)).toEqual(
    expect.arrayContaining(["database", "workflows", "object_store", "disk", "issuer", "chat", "embeddings"]),
  );
  expect(named(body.dependencies, "database")).toMatchObject({
    ok: true,
    version: expect.stringMatching(/^\d+/),
    latency_ms: expect.any(Number),
    failing_since: null,
  });
  expect(named(body.dependencies, "workflows")).toMatchObject({
    ok: true,
    version: expect.stringMatching(/^\d+\.\d+/),
  });
  expect(named(body.dependencies, "object_store")).toMatchObject({ ok: true, kind: "directory" });
  expect(named(body.dependencies, "issuer")).toMatchObject({ ok: true });
});

test("each task queue has its pollers, and each outbox its count", async () => {
  const { body } = await look("queues");
  expect(body.workflows_reachable).toBe(true);
  const parse = body.task_queues.find((one: { queue: string }) => one.queue === "parse");
  expect(parse).toMatchObject({ type: "activity", backlog: expect.any(Number) });
  expect(parse.poller_count).toBeGreaterThan(0);
  expect(parse.pollers[0]).toMatch(/^\d+@[^/]+$/);
  expect(body.outbox.map((one: { kind: string }) => one.kind).toSorted()).toEqual([
    "batches",
    "deletions",
    "events",
    "operations",
    "runs",
    "webhooks",
  ]);
});

test("the processes of the stack say their version and the queues that they poll", async () => {
  const { body } = await until("both processes have said that they run", async () => {
    const answer = await look("processes");
    const kinds = new Set(answer.body.processes.map((one: { kind: string | null }) => one.kind));
    return kinds.has("api") && kinds.has("worker") && answer;
  });
  const worker = body.processes.find((one: { kind: string | null }) => one.kind === "worker");
  expect(worker).toMatchObject({ version: expect.stringMatching(/^\d+\.\d+\.\d+$/), is_alive: true });
  expect(worker.queues).toEqual(expect.arrayContaining(["parse", "embed"]));
  expect(body.turn_leases).toContainEqual(
    expect.objectContaining({ open_turns: expect.any(Number), renewed_at: expect.any(String) }),
  );
});
