/** Holdfast uses itself: an agent's `mcp` tool is pointed at the `/mcp` of the service that runs it. */
import { beforeAll, expect, test } from "vitest";
import { call, ended, upload } from "../../support/clients/client.ts";
import { onKillableStack } from "../../support/stack/shared-stack.ts";
import { beginMcp, postMcp } from "../../support/clients/mcp-client.ts";
import { until } from "../../support/until.ts";

const { stack, tenants } = onKillableStack();

beforeAll(async () => {
  const self = { url: `${stack.url}/mcp`, headers: { authorization: `Bearer ${tenants.keys.viewer}` } };
  const settings = { MCP_SERVERS: JSON.stringify({ self }) };
  await Promise.all([stack.api.kill("SIGKILL"), stack.worker.kill("SIGKILL")]);
  stack.restartWorker(settings);
  await stack.restartApi(settings);
}, 180_000);

test("an agent finds a passage by the search of /mcp, and is offered only what reads", async () => {
  const { id } = await upload(
    stack.url,
    tenants.keys.owner,
    tenants.spaces.research,
    "The godwit flies for eight days.",
  );
  await ended(stack.url, tenants.keys.owner, id);
  const { body: agent } = await call(
    stack.url,
    await stack.issuer.token(tenants.subject("ada")),
    "POST",
    "/agents",
    {
      name: "Itself",
      space_id: tenants.spaces.research,
      agent_type: "simple",
      tool_attachments: [{ tool_id: "mcp", config: { server: "self" } }],
    },
  );
  stack.provider.replyAlways((request) => {
    const last = request["messages"].at(-1);
    if (last.role !== "user") return { pieces: [String(last.content)] };
    const args = JSON.stringify({ query: "How long does the godwit fly?" });
    return { toolCalls: [{ id: "one", name: "mcp_self_search", arguments: args }] };
  });
  const answer = await until("the agent answers", async () => {
    const { status, body } = await call(stack.url, tenants.keys.owner, "POST", "/chat/completions", {
      model: agent.id,
      messages: [{ role: "user", content: "How long?" }],
    });
    return status === 200 && body.choices[0].message.content;
  });
  const offered = stack.provider.requests
    .findLast(({ route }) => route === "chat")!
    .body["tools"].map((tool: { function: { name: string } }) => tool.function.name);

  expect(answer).toContain("godwit flies for eight days");
  expect(answer).toContain(id);
  expect(offered.toSorted()).toEqual(
    ["search", "read_document", "list_documents", "list_spaces", "list_agents"]
      .map((name) => `mcp_self_${name}`)
      .toSorted(),
  );
});

test("a question to an agent counts as a chat turn, and is refused as one", async () => {
  await stack.api.kill("SIGKILL");
  await stack.restartApi({ CHAT_RATE_LIMIT_RPM: "1" });
  const sessionId = await beginMcp(stack.url, tenants.keys.viewer);
  const ask = async (id: number) => {
    const params = { name: "ask_agent", arguments: { agent_id: tenants.agents.librarian, question: "Who?" } };
    const message = { jsonrpc: "2.0", id, method: "tools/call", params };
    return (await postMcp(stack.url, tenants.keys.viewer, message, { sessionId })).text();
  };
  await ask(1);

  expect(await ask(2)).toMatch(/"text":"Rate limit exceeded".*"code":"rate_limited"/);
});
