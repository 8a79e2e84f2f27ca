/** Requests of `/mcp` that take long: cancelled, left, gone on with, and lost with their process. */
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { freePort } from "../../../src/embedded/ports.ts";
import { call, ended, fileForm } from "../../support/clients/client.ts";
import { beginMcp, connectMcp, postMcp } from "../../support/clients/mcp-client.ts";
import { onSharedStack } from "../../support/stack/shared-stack.ts";
import { startProcess } from "../../support/stack/processes.ts";
import { until } from "../../support/until.ts";

const shared = onSharedStack();
const key = () => shared.tenants.keys.owner;

const ask = (id: number | string) => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: {
    name: "ask_agent",
    arguments: { agent_id: shared.tenants.agents.librarian, question: `Question ${id}?` },
    _meta: { progressToken: id },
  },
});
const VERSION = { "mcp-protocol-version": "2025-11-25" };
const aborted = () => shared.stack.provider.counts.aborted;
const asked = () => shared.stack.provider.counts.chat;

beforeAll(() =>
  until("the first process takes turns", async () => {
    const { url } = shared.stack;
    const body = { model: shared.tenants.agents.librarian, messages: [{ role: "user", content: "Ready?" }] };
    return (await call(url, key(), "POST", "/chat/completions", body)).status === 200;
  }),
);

/** The model has begun, and says nothing more until it is let go. */
function holdModel(): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  shared.stack.provider.replyAlways({ pieces: ["It ", "is ", "so."], heldBy: promise });
  onTestFinished(() => {
    resolve();
    shared.stack.provider.replyAlways();
  });
  return resolve;
}

async function secondProcess() {
  const port = await freePort();
  const api = startProcess("src/api/main.ts", { ...shared.stack.env, PORT: String(port) });
  onTestFinished(() => api.kill("SIGKILL"));
  const url = `http://127.0.0.1:${port}`;
  await until("the second process is ready", async () => {
    return (await fetch(`${url}/health/ready`).catch(() => null))?.ok === true;
  });
  return { url, api };
}

async function modelIsAsked(before: number): Promise<void> {
  await until("the model is asked", async () => asked() > before);
}

test("a request that the client cancels ends, and with it its call of the model", async () => {
  holdModel();
  const { client } = await connectMcp(shared.stack.url, key());
  const stop = new AbortController();
  const [calls, ends] = [asked(), aborted()];
  const answer = client.callTool(ask("c").params, undefined, { signal: stop.signal });
  answer.catch(() => undefined);
  await modelIsAsked(calls);
  stop.abort("not wanted");

  await expect(answer).rejects.toThrow("not wanted");
  await until("the call of the model ends", async () => aborted() > ends);
});

test("a cancellation that arrives at another process ends it too, and its stream without an answer", async () => {
  holdModel();
  const { url } = shared.stack;
  const other = await secondProcess();
  const sessionId = await beginMcp(url, key());
  const [calls, ends] = [asked(), aborted()];
  const response = await postMcp(url, key(), ask(7), { sessionId, headers: VERSION });
  await modelIsAsked(calls);
  const told = await postMcp(
    other.url,
    key(),
    { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 7 } },
    { sessionId },
  );
  const text = await response.text();

  expect(told.status).toBe(202);
  expect(text).not.toContain('"result"');
  await until("the call of the model ends", async () => aborted() > ends);
});

test("a request of somebody else's session is not cancelled by its id", async () => {
  const letGo = holdModel();
  const { url } = shared.stack;
  const sessionId = await beginMcp(url, key());
  const calls = asked();
  const response = await postMcp(url, key(), ask(8), { sessionId, headers: VERSION });
  await modelIsAsked(calls);
  const other = await beginMcp(url, key());
  await postMcp(
    url,
    key(),
    { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 8 } },
    { sessionId: other },
  );
  letGo();

  expect(await response.text()).toContain("It is so.");
});

/** Reads until an event with an id has come, then breaks the connection. */
async function beginAndLeave(url: string, sessionId: string, id: number): Promise<string> {
  const leave = new AbortController();
  const response = await fetch(`${url}/mcp`, {
    method: "POST",
    signal: leave.signal,
    headers: {
      authorization: `Bearer ${key()}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-session-id": sessionId,
      ...VERSION,
    },
    body: JSON.stringify(ask(id)),
  });
  const { value } = await response.body!.getReader().read();
  leave.abort();
  return /id: (\S+)/.exec(new TextDecoder().decode(value))![1]!;
}

test("an answer whose connection broke is gone on with at another process", async () => {
  const letGo = holdModel();
  const { url } = shared.stack;
  const other = await secondProcess();
  const sessionId = await beginMcp(url, key());
  const calls = asked();
  const lastEventId = await beginAndLeave(url, sessionId, 9);
  await modelIsAsked(calls);
  const rest = await postMcp(other.url, key(), undefined, {
    sessionId,
    method: "GET",
    headers: { "last-event-id": lastEventId },
  });
  letGo();
  const text = await rest.text();
  const stranger = await beginMcp(url, key());
  const refused = await postMcp(other.url, key(), undefined, {
    sessionId: stranger,
    method: "GET",
    headers: { "last-event-id": lastEventId },
  });

  expect(text).toContain('"id":9');
  expect(text).toContain("It is so.");
  expect(refused.status).toBe(400);
});

test("a request whose process died ends with an error that says so", async () => {
  holdModel();
  const other = await secondProcess();
  const sessionId = await beginMcp(shared.stack.url, key());
  const calls = asked();
  const lastEventId = await beginAndLeave(other.url, sessionId, 10);
  await modelIsAsked(calls);
  await other.api.kill("SIGKILL");
  const rest = await postMcp(shared.stack.url, key(), undefined, {
    sessionId,
    method: "GET",
    headers: { "last-event-id": lastEventId },
  });

  expect(await rest.text()).toMatch(/"id":10.*"code":-32603|"code":-32603.*"id":10/);
});

test("what is kept of an answer is sealed", async () => {
  const { url } = shared.stack;
  shared.stack.provider.replyAlways({ pieces: ["The word is turnstone."] });
  onTestFinished(() => shared.stack.provider.replyAlways());
  const sessionId = await beginMcp(url, key());
  const response = await postMcp(url, key(), ask(11), { sessionId, headers: VERSION });
  const text = await response.text();
  const { rows } = await shared.stack.database.db.owner.query<{ sealed: Buffer }>(
    `select message.sealed
     from mcp_answer_messages message
     join mcp_answers answer using (stream_id)
     where answer.session_id = $1`,
    [sessionId],
  );

  expect(text).toContain("turnstone");
  expect(rows.length).toBeGreaterThan(0);
  expect(Buffer.concat(rows.map(({ sealed }) => sealed))).not.toContain("turnstone");
});

test("an answer is not gone on with by whoever does not reach what it is made of any more", async () => {
  const { url } = shared.stack;
  const { body: document } = await call(
    url,
    key(),
    "POST",
    "/data/upload",
    fileForm("The dunlin probes the mud.", "dunlin.txt", { space_id: shared.tenants.spaces.research }),
  );
  await ended(url, key(), document.id);
  const sessionId = await beginMcp(url, key());
  const search = {
    ...ask(12),
    params: { name: "search", arguments: { query: "dunlin mud" }, _meta: { progressToken: 12 } },
  };
  const text = await (await postMcp(url, key(), search, { sessionId, headers: VERSION })).text();
  const again = () =>
    postMcp(url, key(), undefined, {
      sessionId,
      method: "GET",
      headers: { "last-event-id": /id: (\S+)/.exec(text)![1]! },
    });
  const before = await again();
  await call(url, key(), "DELETE", `/data/${document.id}`);
  const after = await again();

  expect(await before.text()).toContain("dunlin probes");
  expect(after.status).toBe(400);
  expect(await after.text()).not.toContain("dunlin");
});
