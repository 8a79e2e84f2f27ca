/** Sessions of the Model Context Protocol: in any process, and their principal's alone. */
import { freePort } from "../../../src/embedded/ports.ts";
import { serviceVersion } from "../../../src/process/version.ts";
import { expect, onTestFinished, test } from "vitest";
import { onSharedStack } from "../../support/stack/shared-stack.ts";
import { startProcess, type TestProcess } from "../../support/stack/processes.ts";
import { until } from "../../support/until.ts";
import { beginMcp, connectMcp, postMcp } from "../../support/clients/mcp-client.ts";

const shared = onSharedStack();
const keys = () => shared.tenants.keys;

const LIST = { jsonrpc: "2.0", id: 1, method: "tools/list" };

/** A second API process of the same stack. */
async function secondProcess(): Promise<{ url: string; api: TestProcess }> {
  const port = await freePort();
  const api = startProcess("src/api/main.ts", { ...shared.stack.env, PORT: String(port) });
  onTestFinished(() => api.kill("SIGKILL"));
  const url = `http://127.0.0.1:${port}`;
  await until("the second process is ready", async () => {
    return (await fetch(`${url}/health/ready`).catch(() => null))?.ok === true;
  });
  return { url, api };
}

test("the official client connects in the newest version and lists the tools", async () => {
  const { client, transport } = await connectMcp(shared.stack.url, keys().owner);
  const { tools } = await client.listTools();

  expect(client.getServerVersion()).toMatchObject({ name: "holdfast", version: await serviceVersion() });
  expect(transport.protocolVersion).toBe("2025-11-25");
  expect(tools.map(({ name }) => name)).toEqual([
    "search",
    "read_document",
    "list_documents",
    "list_spaces",
    "list_agents",
    "ask_agent",
    "upload_document",
    "reprocess_document",
    "delete_document",
  ]);
});

test.each(["2025-11-25", "2025-06-18"])(
  "a session speaks version %s if the client asks for it",
  async (version) => {
    const response = await postMcp(shared.stack.url, keys().owner, {
      jsonrpc: "2.0",
      id: "a",
      method: "initialize",
      params: { protocolVersion: version, capabilities: {}, clientInfo: { name: "test", version: "1" } },
    });
    const answer = (await response.json()) as { id: string; result: { protocolVersion: string } };

    expect(response.status).toBe(200);
    expect(answer.id).toBe("a");
    expect(answer.result.protocolVersion).toBe(version);
  },
);

test("a hundred sessions of one key live, however many begin at once", async () => {
  const ids = await Promise.all(Array.from({ length: 130 }, () => beginMcp(shared.stack.url, keys().editor)));

  const { rows } = await shared.stack.database.db.owner.query(
    "select count(*)::int as count from mcp_sessions where id::text = any($1)",
    [ids],
  );
  expect(new Set(ids).size).toBe(130);
  expect(rows).toEqual([{ count: 100 }]);
});

test("a client that asks for an unknown version is offered the newest", async () => {
  const response = await postMcp(shared.stack.url, keys().owner, {
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: { protocolVersion: "1999-01-01", capabilities: {}, clientInfo: { name: "test", version: "1" } },
  });

  expect(await response.json()).toMatchObject({ result: { protocolVersion: "2025-11-25" } });
});

test("another process serves the session, and hears of its end", async () => {
  const sessionId = await beginMcp(shared.stack.url, keys().owner);
  const { url: other } = await secondProcess();

  expect((await postMcp(other, keys().owner, LIST, { sessionId })).status).toBe(200);
  expect((await postMcp(other, keys().owner, undefined, { sessionId, method: "DELETE" })).status).toBe(204);
  expect((await postMcp(shared.stack.url, keys().owner, LIST, { sessionId })).status).toBe(404);
});

test("somebody else's session is as an unknown one: of another key, tenant, or login of the same user", async () => {
  const { url, issuer } = shared.stack;
  const sessionId = await beginMcp(url, keys().owner);
  const login = await issuer.token(shared.tenants.subject("ada"), {}, `${url}/mcp`);
  const answers = await Promise.all(
    [keys().editor, keys().rival, keys().scoped, login].map(async (who) => {
      const response = await postMcp(url, who, LIST, { sessionId });
      return { status: response.status, body: await response.text() };
    }),
  );
  const unknown = await postMcp(url, keys().owner, LIST, {
    sessionId: "0199aaaa-0000-4000-8000-000000000000",
  });
  const expected = { status: 404, body: await unknown.text() };

  expect(answers).toEqual([expected, expected, expected, expected]);
  expect((await postMcp(url, keys().owner, LIST, { sessionId })).status).toBe(200);
});

test("a request without a session, or in a version that is not spoken, is 400", async () => {
  const { url } = shared.stack;
  const sessionId = await beginMcp(url, keys().owner);
  const spoken = await postMcp(url, keys().owner, LIST, {
    sessionId,
    headers: { "mcp-protocol-version": "1999-01-01" },
  });

  const without = await postMcp(url, keys().owner, undefined, { method: "GET" });
  const unknown = await postMcp(url, keys().owner, LIST, { sessionId: "no-session" });
  const dataOf = async (answer: Response) =>
    ((await answer.json()) as { error: { data: unknown } }).error.data;
  const data = (code: string, message: string) => ({
    message,
    type: "invalid_request_error",
    code,
    param: null,
    doc_url: `${url}/docs/errors/${code}`,
  });

  expect((await postMcp(url, keys().owner, LIST)).status).toBe(400);
  expect(without.status).toBe(400);
  expect(await dataOf(without)).toEqual(
    data("bad_request", "Bad Request: the header Mcp-Session-Id is required"),
  );
  expect(await dataOf(unknown)).toEqual(data("not_found", "Session not found"));
  expect(spoken.status).toBe(400);
  expect(await spoken.json()).toMatchObject({ jsonrpc: "2.0", id: null, error: { code: -32_000 } });
});

test("a process that stops ends its streams in order, and the session goes on at another", async () => {
  const { url: other, api } = await secondProcess();
  const sessionId = await beginMcp(other, keys().owner);
  const stream = await postMcp(other, keys().owner, undefined, { sessionId, method: "GET" });
  const ended = stream.text();
  await api.kill("SIGTERM");

  expect(await ended).toMatch(/^id: \S+\ndata: \n\n/);
  expect((await postMcp(shared.stack.url, keys().owner, LIST, { sessionId })).status).toBe(200);
});
