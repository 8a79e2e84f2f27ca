import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type ChatWithTools, startChatWithTools } from "../../support/stack/chat-with-tools.ts";

let chat: ChatWithTools;

beforeAll(async () => {
  chat = await startChatWithTools(["calculator", "http_fetch"]);
});
afterAll(() => chat.close());
beforeEach(() => chat.forget());

const requests = () => chat.requests();

/** Lets the model ask for one tool and then answer. @returns the tool's result as the model got it. */
async function toldOf(name: string, args: unknown): Promise<string> {
  chat.provider.reply(
    { toolCalls: [{ id: "a", name, arguments: JSON.stringify(args) }] },
    { pieces: ["Well."] },
  );
  const response = await chat.chat({ model: chat.agent, messages: [{ role: "user", content: "go" }] });
  const body: any = await response.json();
  expect(body.choices[0].message.content).toBe("Well.");
  return requests()[1]!["messages"].at(-1).content;
}

describe("a tool of an MCP server", () => {
  it("is offered to the model and its answer fenced as data", async () => {
    expect(await toldOf("mcp_city_weather", { city: "Oslo" })).toContain("<<<DATA\nRain in Oslo.\nDATA>>>");
    expect(requests()[0]!["tools"].map((tool: any) => tool.function.name)).toContain("mcp_city_weather");
  });
});

describe("a turn goes on with a bounded message to the model where a tool", () => {
  it("reports an error", async () =>
    expect(await toldOf("mcp_city_broken", {})).toMatch(
      /^Error: The tool reported an error\. .*\n<<<DATA\nno such city\nDATA>>>$/,
    ));

  it("hangs", async () => {
    const startedAt = performance.now();
    expect(await toldOf("mcp_city_slow", {})).toBe("Error: The tool did not answer in time.");
    expect(performance.now() - startedAt).toBeLessThan(10_000);
  });

  it("returns five megabytes", async () => {
    const told = await toldOf("mcp_city_huge", {});
    expect(Buffer.byteLength(told)).toBeLessThanOrEqual(64 * 1024);
    expect(told).toMatch(/cut here: the result is longer than a tool may return\)$/);
  });

  it("may not reach what it was asked for", async () =>
    expect(await toldOf("http_fetch", { url: "http://169.254.169.254/" })).toBe(
      "Error: No host is allowed for http_fetch.",
    ));

  it("calculates", async () =>
    expect(await toldOf("calculator", { expression: "0.1 + 0.2" })).toBe("0.1 + 0.2 = 0.3"));
});
