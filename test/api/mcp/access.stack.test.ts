/** Who may call `/mcp`: credentials, audiences, origins, lost rights; and messages that are none. */
import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { call } from "../../support/clients/client.ts";
import { beginMcp, connectMcp, postMcp } from "../../support/clients/mcp-client.ts";
import { onSharedStack } from "../../support/stack/shared-stack.ts";
import { until } from "../../support/until.ts";

const shared = onSharedStack();
const keys = () => shared.tenants.keys;
const LIST = { jsonrpc: "2.0", id: 1, method: "tools/list" };

test("without credentials the answer says where the resource's metadata are, and they name the issuer", async () => {
  const { url, issuer } = shared.stack;
  const refused = await postMcp(url, null, LIST);
  const challenge = refused.headers.get("www-authenticate")!;
  const [, metadataUrl] = /^Bearer resource_metadata="([^"]+)"$/.exec(challenge)!;
  const answers = await Promise.all([
    fetch(metadataUrl!),
    fetch(`${url}/.well-known/oauth-protected-resource`),
  ]);
  const [metadata, root] = await Promise.all(answers.map((answer) => answer.json()));

  expect(refused.status).toBe(401);
  expect(new URL(metadataUrl!).pathname).toBe("/.well-known/oauth-protected-resource/mcp");
  expect(metadata).toMatchObject({
    resource: `${url}/mcp`,
    authorization_servers: [issuer.url],
    bearer_methods_supported: ["header"],
  });
  expect(root).toEqual(metadata);
});

test("a token for /mcp works there and not on /v1, and one for the API the other way round", async () => {
  const { url, issuer } = shared.stack;
  const subject = shared.tenants.subject("ada");
  const ofMcp = await issuer.token(subject, {}, `${url}/mcp`);
  const ofApi = await issuer.token(subject);
  const { client } = await connectMcp(url, ofMcp);
  const refused = await postMcp(url, ofApi, LIST);

  expect((await client.listTools()).tools.length).toBeGreaterThan(0);
  expect((await call(url, ofApi, "GET", "/me")).status).toBe(200);
  expect((await call(url, ofMcp, "GET", "/me")).status).toBe(401);
  expect(refused.status).toBe(401);
  expect(refused.headers.get("www-authenticate")).toContain('error="invalid_token"');
});

test("pages of the service's own and of allowed origins may call, others are refused", async () => {
  const { url, temporalUi } = shared.stack;
  const sessionId = await beginMcp(url, keys().owner);
  const statusFrom = async (origin: string) =>
    (await postMcp(url, keys().owner, LIST, { sessionId, headers: { origin } })).status;

  expect(await statusFrom(new URL(url).origin)).toBe(200);
  expect(await statusFrom(temporalUi!)).toBe(200);
  expect(await statusFrom("https://evil.example")).toBe(403);
  expect(await statusFrom("null")).toBe(403);
});

async function keyWith(capabilities: string[]): Promise<{ id: string; key: string; token: string }> {
  const { url, issuer } = shared.stack;
  const token = await issuer.token(shared.tenants.subject("ada"));
  const { body } = await call(url, token, "POST", "/me/api-keys", { name: randomUUID(), capabilities });
  return { id: body.id, key: body.key, token };
}

test("a key without a capability has none of its tools, and cannot call them by name", async () => {
  const { key } = await keyWith(["read", "search"]);
  const { client } = await connectMcp(shared.stack.url, key);
  const { tools } = await client.listTools();

  expect(tools.map(({ name }) => name)).toEqual(["search", "read_document", "list_documents", "list_spaces"]);
  for (const name of ["delete_document", "upload_document", "reprocess_document"])
    await expect(client.callTool({ name, arguments: {} })).rejects.toMatchObject({
      code: -32_602,
      message: expect.stringContaining(`the tool ${name} needs an API key with the capability write`),
      data: { code: "key_out_of_scope", status: 403 },
    });
  await expect(client.callTool({ name: "no_such_tool", arguments: {} })).rejects.toMatchObject({
    message: expect.stringContaining("Unknown tool"),
  });
  expect((await client.listPrompts()).prompts).toEqual([]);
});

test("a key that can write nowhere is shown no tool that writes", async () => {
  const { url, issuer } = shared.stack;
  const token = await issuer.token(shared.tenants.subject("vic"));
  const { body } = await call(url, token, "POST", "/me/api-keys", {
    name: randomUUID(),
    spaces: [shared.tenants.spaces.research],
  });
  const { client } = await connectMcp(url, body.key);

  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual([
    "search",
    "read_document",
    "list_documents",
    "list_spaces",
    "list_agents",
    "ask_agent",
  ]);
});

test("a key that may chat and not read learns the ids and names of agents, and not what they are for", async () => {
  const { key } = await keyWith(["chat"]);
  const { client } = await connectMcp(shared.stack.url, key);
  const { tools } = await client.listTools();
  const { structuredContent } = await client.callTool({ name: "list_agents", arguments: {} });
  const { agents } = structuredContent as { agents: object[] };

  expect(tools.map(({ name }) => name)).toEqual(["list_agents", "ask_agent"]);
  expect(agents).toContainEqual({ id: shared.tenants.agents.librarian, name: expect.any(String) });
  expect(agents.filter((agent) => "description" in agent)).toEqual([]);
});

test("a key that may not read hears that its upload is stored, though it cannot wait for the processing", async () => {
  const { key } = await keyWith(["write"]);
  const { client } = await connectMcp(shared.stack.url, key);

  const { isError, structuredContent } = await client.callTool({
    name: "upload_document",
    arguments: {
      space_id: shared.tenants.spaces.research,
      name: "unread.txt",
      content: "Only written.",
      wait_seconds: 10,
    },
  });

  expect(isError).not.toBe(true);
  expect(structuredContent).toMatchObject({ document: { id: expect.any(String), name: "unread.txt" } });
});

test("after a lost right a tool is refused without a word about what is there, and a revoked key is 401", async () => {
  const { url, issuer } = shared.stack;
  const ada = await issuer.token(shared.tenants.subject("ada"));
  const { body: space } = await call(url, ada, "POST", "/spaces", { name: randomUUID() });
  const { body: me } = await call(url, await issuer.token(shared.tenants.subject("vic")), "GET", "/me");
  await call(url, ada, "PUT", `/spaces/${space.id}/members/${me.id}`, { role: "editor" });
  const vic = await issuer.token(shared.tenants.subject("vic"), {}, `${url}/mcp`);
  const { client } = await connectMcp(url, vic);
  const write = () =>
    client.callTool({
      name: "upload_document",
      arguments: { space_id: space.id, name: "a.txt", content: "A." },
    });
  const before = await write();
  await call(url, ada, "DELETE", `/spaces/${space.id}/members/${me.id}`);
  const after = await write();
  const { id, key } = await keyWith(["read"]);
  const sessionId = await beginMcp(url, key);
  await call(url, ada, "DELETE", `/me/api-keys/${id}`);

  expect(before.isError).toBeUndefined();
  expect(after).toMatchObject({ isError: true, content: [{ type: "text", text: "Space not found" }] });
  expect((await postMcp(url, key, LIST, { sessionId })).status).toBe(401);
});

test("the stream of a session ends when its key is revoked", async () => {
  const { url } = shared.stack;
  const { id, key, token } = await keyWith(["read"]);
  const sessionId = await beginMcp(url, key);
  const stream = await postMcp(url, key, undefined, { sessionId, method: "GET" });
  await call(url, token, "DELETE", `/me/api-keys/${id}`);

  expect(stream.status).toBe(200);
  // It ends, or this would wait for ever.
  await stream.text();
});

test("a key that may not read has a session without a stream", async () => {
  const { url } = shared.stack;
  const { key } = await keyWith(["chat"]);
  const sessionId = await beginMcp(url, key);

  expect((await postMcp(url, key, undefined, { sessionId, method: "GET" })).status).toBe(405);
});

test.each([
  ["no JSON", "{", -32_700],
  ["no message", '{"hello": 1}', -32_600],
  ["another version of JSON-RPC", '{"jsonrpc": "1.0", "id": 1, "method": "ping"}', -32_600],
  ["a batch", '[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]', -32_600],
  ["a list in a list too deep", `${"[".repeat(70)}${"]".repeat(70)}`, -32_700],
  ["nothing", "", -32_600],
  ["an id without end", `{"jsonrpc": "2.0", "method": "ping", "id": "${"x".repeat(257)}"}`, -32_600],
  ["a text with NUL", '{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"a": "\\u0000"}}', -32_600],
])("%s is a JSON-RPC error with status 400", async (_name, body, code) => {
  const sessionId = await beginMcp(shared.stack.url, keys().owner);
  const response = await postMcp(shared.stack.url, keys().owner, body, { sessionId });

  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ jsonrpc: "2.0", id: null, error: { code } });
});

test("a body over the limit of JSON bodies is refused before it is parsed", async () => {
  const response = await postMcp(shared.stack.url, keys().owner, `"${"x".repeat(5_000_000)}"`);

  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({
    jsonrpc: "2.0",
    error: { data: { code: "body_too_large" } },
  });
});

test("an unknown method, and params that do not fit, are errors of their request", async () => {
  const { url } = shared.stack;
  const sessionId = await beginMcp(url, keys().owner);
  const send = async (method: string, params: unknown) =>
    (await postMcp(url, keys().owner, { jsonrpc: "2.0", id: 5, method, params }, { sessionId })).json();

  expect(await send("no/such", {})).toMatchObject({ id: 5, error: { code: -32_601 } });
  expect(await send("tools/call", { arguments: {} })).toMatchObject({ id: 5, error: { code: -32_602 } });
  expect(await send("ping", {})).toEqual({ jsonrpc: "2.0", id: 5, result: {} });
});

/** The rows of what a key was refused, once there are so many. */
async function refusalsOf(keyId: string, count: number): Promise<string[]> {
  const { database } = shared.stack;
  const refusals = await until("the refusals are written", async () => {
    const { rows } = await database.db.owner.query<{ action: string; id: string | null; outcome: string }>(
      `select action, resource_id as id, outcome
       from audit_log
       where api_key_id = $1
         and starts_with(outcome, 'denied ')`,
      [keyId],
    );
    return rows.length >= count && rows;
  });
  const shown = refusals.map(({ action, id, outcome }) => {
    const { code, route } = JSON.parse(outcome.slice("denied ".length)) as { code: string; route: string };
    return `${route} ${action} ${code} ${id}`;
  });
  return shown.toSorted();
}

test("what a key is refused here is in the audit log: ids out of its reach, what is no id, another's tools", async () => {
  const { url, issuer } = shared.stack;
  const made = await call(url, await issuer.token(shared.tenants.subject("ada")), "POST", "/me/api-keys", {
    name: "reads",
    capabilities: ["read"],
  });
  const { client } = await connectMcp(url, made.body.key);
  const unknown = randomUUID();
  for (const document_id of [unknown, "no-id"])
    await client.callTool({ name: "read_document", arguments: { document_id } });
  await expect(
    client.callTool({ name: "delete_document", arguments: { document_id: unknown } }),
  ).rejects.toMatchObject({ code: -32_602 });
  expect(await refusalsOf(made.body.id, 3)).toEqual([
    `POST /mcp documents:read document_not_found ${unknown}`,
    "POST /mcp mcp:use invalid null",
    "POST /mcp mcp:use key_out_of_scope null",
  ]);
});

test("sessions, prompts and addresses that are not the key's are in the audit log when it tries them", async () => {
  const { url } = shared.stack;
  const { id, key } = await keyWith(["read", "chat"]);
  const foreign = await beginMcp(url, keys().owner);
  for (const method of ["POST", "GET", "DELETE"]) {
    const body = method === "POST" ? LIST : undefined;
    expect((await postMcp(url, key, body, { sessionId: foreign, method })).status).toBe(404);
  }
  const { client } = await connectMcp(url, key);
  const agent = randomUUID();
  await expect(client.getPrompt({ name: agent })).rejects.toMatchObject({ code: -32_602 });
  await expect(client.readResource({ uri: "holdfast://nothing" })).rejects.toMatchObject({ code: -32_002 });
  expect(await refusalsOf(id, 5)).toEqual([
    `DELETE /mcp mcp:use not_found ${foreign}`,
    `GET /mcp mcp:use not_found ${foreign}`,
    `POST /mcp agents:chat agent_not_found ${agent}`,
    "POST /mcp documents:read document_not_found null",
    `POST /mcp mcp:use not_found ${foreign}`,
  ]);
});
