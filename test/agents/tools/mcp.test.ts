import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createToolbox } from "../../../src/agents/tools/index.ts";
import type { ToolContext } from "../../../src/agents/tools/tool.ts";
import type { Agent } from "../../../src/db/turns/agents-in-chat.ts";
import { type TestMcpServer, startMcpServer } from "../../support/servers/mcp-server.ts";

let server: TestMcpServer;
const failures: string[] = [];
beforeAll(async () => {
  server = await startMcpServer();
});
afterAll(() => server.close());

const agentWith = (...configs: unknown[]) =>
  ({
    agent_type: "simple",
    tool_attachments: configs.map((config) => ({ tool_id: "mcp", config })),
  }) as unknown as Agent;
const toolbox = () =>
  createToolbox(
    {
      httpFetchHosts: [],
      mcpServers: {
        city: { url: server.url, headers: { authorization: "Bearer secret" }, tools: ["vouched"] },
        gone: { url: "http://127.0.0.1:9/mcp" },
      },
    },
    (_, name) => failures.push(name),
  );
const names = async (agent: Agent) => (await toolbox().definitions(agent)).map(({ name }) => name).toSorted();
const run = async (name: string, args: unknown, signal = AbortSignal.timeout(5_000)) => {
  const found = await toolbox().find(agentWith({ server: "city" }), name);
  return found!.tool.run({} as ToolContext, args, signal);
};

describe("the tools of an MCP server", () => {
  it("are those that the server or the operator calls read-only, under the server's name", async () => {
    expect(await names(agentWith({ server: "city" }))).toEqual([
      "mcp_city_broken",
      "mcp_city_endless",
      "mcp_city_huge",
      "mcp_city_slow",
      "mcp_city_vouched",
      "mcp_city_weather",
    ]);
    expect(await names(agentWith({ server: "city", tools: ["weather"] }))).toEqual(["mcp_city_weather"]);
    const [weather] = await toolbox().definitions(agentWith({ server: "city", tools: ["weather"] }));
    expect(weather).toMatchObject({
      description: "The weather.",
      parameters: { type: "object", properties: { city: { type: "string" } } },
    });
  });

  it("are none if the server is unknown, down, or not attached", async () => {
    expect(await names(agentWith({ server: "nobody" }, { server: "__proto__" }, null))).toEqual([]);
    expect(await names(agentWith({ server: "gone" }))).toEqual([]);
    expect(failures).toContain("gone");
    expect(await toolbox().find(agentWith({ server: "gone" }), "mcp_city_weather")).toBeUndefined();
    expect(await toolbox().find(agentWith({ server: "city" }), "mcp_city_delete_all")).toBeUndefined();
  });

  it("are called with the operator's secrets, and their text is marked as data", async () => {
    const result = await run("mcp_city_weather", { city: "Oslo" });
    expect(result).toEqual({
      type: "text",
      text: expect.stringMatching(/<<<DATA\nRain in Oslo\.\nDATA>>>$/),
    });
    expect(new Set(server.authorizations)).toEqual(new Set(["Bearer secret"]));
  });

  it("are not taken from where the server redirects to, and its secrets are not sent there", async () => {
    let isAsked = false;
    const inside = createServer((_, response) => {
      isAsked = true;
      response.end();
    }).listen(0, "127.0.0.1");
    await once(inside, "listening");
    const location = `http://127.0.0.1:${(inside.address() as AddressInfo).port}/mcp`;
    const redirecting = createServer((_, response) => response.writeHead(307, { location }).end()).listen(
      0,
      "127.0.0.1",
    );
    await once(redirecting, "listening");
    const url = `http://127.0.0.1:${(redirecting.address() as AddressInfo).port}/mcp`;
    const found = createToolbox(
      { httpFetchHosts: [], mcpServers: { moved: { url, headers: { authorization: "Bearer secret" } } } },
      (_, name) => failures.push(name),
    );
    expect(await found.definitions(agentWith({ server: "moved" }))).toEqual([]);
    expect(failures).toContain("moved");
    expect(isAsked).toBe(false);
    for (const server of [inside, redirecting]) server.close();
  });

  it("fail if their answer has no end", async () => {
    await expect(run("mcp_city_endless", {})).rejects.toMatchObject({
      code: "bad_request",
      message: "The tool's server did not answer.",
    });
  });

  it("fail with a message for the model: an error, wrong arguments, an abort", async () => {
    // No thrown one, whose message would be logged.
    expect(await run("mcp_city_broken", {})).toEqual({
      type: "error",
      text: expect.stringContaining("<<<DATA\nno such city\nDATA>>>"),
    });
    await expect(run("mcp_city_weather", [])).rejects.toMatchObject({ code: "invalid" });
    const stop = new AbortController();
    const slow = run("mcp_city_slow", {}, stop.signal);
    setTimeout(() => stop.abort(new Error("stopped")), 50);
    await expect(slow).rejects.toThrow("stopped");
  });
});
