/** A tool's config that is not understood is refused; it never counts as none. */
import { createServer } from "node:http";
import { describe, expect, onTestFinished, test } from "vitest";
import { createToolbox } from "../../src/agents/tools/index.ts";
import type { Agent } from "../../src/db/turns/agents-in-chat.ts";
import { parsePart } from "../../src/api/validation/validate.ts";
import { AgentCreate, AgentPatch } from "../../src/schema/agent.ts";

const SPACE = "01900000-0000-7000-8000-000000000010";
const REFUSED: ReadonlyArray<readonly [tool: string, config: unknown, loc: readonly (string | number)[]]> = [
  ["http_fetch", { hosts: "docs.example.org" }, ["hosts"]],
  ["http_fetch", { host: ["docs.example.org"] }, ["hosts"]],
  ["http_fetch", { hosts: ["docs.example.org"], Hosts: [] }, ["Hosts"]],
  ["http_fetch", { hosts: ["https://docs.example.org/"] }, ["hosts", 0]],
  ["http_fetch", { hosts: [1] }, ["hosts", 0]],
  ["http_fetch", { hosts: ["a".repeat(254)] }, ["hosts", 0]],
  ["http_fetch", {}, ["hosts"]],
  ["mcp", { server: "city", tool: ["weather"] }, ["tool"]],
  ["mcp", { server: "city", tools: "weather" }, ["tools"]],
  ["mcp", JSON.parse('{"server": "city", "__proto__": {"tools": []}}'), ["__proto__"]],
];

describe("when an agent is saved", () => {
  test.each(REFUSED)("%s with %j is 422 at its place", (tool_id, config, loc) => {
    const tool_attachments = [
      { tool_id: "calculator", config: null },
      { tool_id, config },
    ];
    for (const [schema, body] of [
      [AgentCreate, { name: "a", space_id: SPACE, tool_attachments }] as const,
      [AgentPatch, { tool_attachments }] as const,
    ]) {
      const parsed = parsePart(schema, body, "body") as { problems?: { loc: unknown[] }[] };
      expect(parsed.problems?.map((problem) => problem.loc)).toContainEqual([
        "body",
        "tool_attachments",
        1,
        "config",
        ...loc,
      ]);
    }
  });

  test.each([
    ["http_fetch", null],
    ["http_fetch", { hosts: [] }],
    ["http_fetch", { hosts: ["docs.example.org", "*.example.com", "192.0.2.7"] }],
    ["mcp", { server: "city", tools: ["weather"] }],
    ["mcp", { server: "city", tools: null }],
    ["calculator", { anything: 1 }],
  ])("%s with %j is kept", (tool_id, config) => {
    expect(parsePart(AgentPatch, { tool_attachments: [{ tool_id, config }] }, "body")).toEqual({
      value: { tool_attachments: [{ tool_id, config }] },
    });
  });
});

describe("if it was saved by an earlier version", () => {
  const agentWith = (tool_id: string, config: unknown) =>
    ({ agent_type: "simple", tool_attachments: [{ tool_id, config }] }) as unknown as Agent;

  test.each(REFUSED.filter(([tool, , loc]) => tool === "http_fetch" && loc.length === 1))(
    "http_fetch with %s %j asks nobody",
    async (_tool, config) => {
      const toolbox = createToolbox(
        { httpFetchHosts: ["docs.example.org"], mcpServers: {} },
        () => undefined,
      );
      const found = await toolbox.find(agentWith("http_fetch", config), "http_fetch");
      const context = { config: found!.config } as unknown as Parameters<
        NonNullable<typeof found>["tool"]["run"]
      >[0];
      const run = found!.tool.run(context, { url: "http://docs.example.org/" }, new AbortController().signal);
      await expect(run).rejects.toMatchObject({
        code: "bad_request",
        message: expect.stringContaining("not understood"),
      });
    },
  );

  test("an MCP server is not asked for an agent whose config is not understood", async () => {
    let isAsked = false;
    const server = createServer((_request, response) => {
      isAsked = true;
      response.writeHead(500).end();
    });
    onTestFinished(() => void server.close());
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as { port: number }).port}/`;
    const toolbox = createToolbox({ httpFetchHosts: [], mcpServers: { city: { url } } }, () => undefined);
    expect(await toolbox.definitions(agentWith("mcp", { server: "city", tool: ["weather"] }))).toEqual([]);
    expect(isAsked).toBe(false);
    await toolbox.definitions(agentWith("mcp", { server: "city" }));
    expect(isAsked).toBe(true);
  });
});
