import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type ChatWithTools, startChatWithTools } from "../../support/stack/chat-with-tools.ts";

const TURN_SECONDS = 2;
const TURN_TOKENS = 500;
const PING_MS = 300;

let chat: ChatWithTools;

beforeAll(async () => {
  chat = await startChatWithTools(["current_time"], {
    parts: { turnBudget: { modelCalls: 8, tokens: TURN_TOKENS, seconds: TURN_SECONDS }, pingMs: PING_MS },
  });
});
afterAll(() => chat.close());
beforeEach(() => chat.forget());

const ask = (content: string, stream = false) =>
  chat.chat({ model: chat.agent, messages: [{ role: "user", content }], stream });
const requests = () => chat.requests();
const now = { id: "a", name: "current_time", arguments: "{}" };

describe("a turn whose budget is used up ends in an answer that says so:", () => {
  it("tokens", async () => {
    chat.provider.replyAlways((request) =>
      request["tools"] ? { toolCalls: [now] } : { pieces: ["What I know."] },
    );
    const body: any = await (await ask("word ".repeat(TURN_TOKENS))).json();
    expect(requests()).toHaveLength(2);
    expect(requests()[1]).not.toHaveProperty("tools");
    expect(body.choices[0]).toMatchObject({
      message: {
        content: `What I know.\n\n(Stopped early: the budget of ${TURN_TOKENS} tokens is used up.)`,
      },
      finish_reason: "stop",
    });
  });

  it("seconds", async () => {
    const firstTokenMs = (TURN_SECONDS * 1_000) / 2 + 50;
    chat.provider.replyAlways((request) =>
      request["tools"] ? { toolCalls: [now], firstTokenMs } : { pieces: ["What I know."] },
    );
    const body: any = await (await ask("go")).json();
    expect(requests()).toHaveLength(3);
    expect(requests()[2]).not.toHaveProperty("tools");
    expect(body.choices[0].message.content).toBe(
      `What I know.\n\n(Stopped early: the budget of ${TURN_SECONDS} seconds is used up.)`,
    );
  });
});

describe("a stream shows that it lives", () => {
  const pings = (text: string): number => text.split("\n").filter((line) => line === ": ping").length;

  it("while a tool runs", async () => {
    chat.provider.reply(
      { toolCalls: [{ id: "a", name: "mcp_city_slow", arguments: "{}" }] },
      { pieces: ["Well."] },
    );
    const text = await (await ask("go", true)).text();
    const [before] = text.split('"content":"Well."');
    // The tool times out after 1.5 s.
    expect(pings(before!)).toBeGreaterThanOrEqual(3);
    expect(text.endsWith("data: [DONE]\n\n")).toBe(true);
  });

  it("while the model has not begun to answer", async () => {
    chat.provider.reply({ pieces: ["Well."], firstTokenMs: 5 * PING_MS });
    const text = await (await ask("go", true)).text();
    expect(pings(text.split('"content":"Well."')[0]!)).toBeGreaterThanOrEqual(2);
  });
});

describe("a provider that fails before its first byte", () => {
  it.each([
    ["429 with Retry-After", { status: 429, headers: { "retry-after": "1" } }, 1_000],
    ["503", { status: 503 }, 200],
  ])("is asked again after %s, and the caller sees nothing of it", async (_, fault, leastMs) => {
    for (const stream of [false, true]) {
      chat.provider.failChat(fault, 1);
      const startedAt = performance.now();
      const response = await ask("hi", stream);
      expect(response.status).toBe(200);
      expect(await response.text()).toContain("hi");
      expect(performance.now() - startedAt).toBeGreaterThan(leastMs);
    }
    expect(requests()).toHaveLength(4);
  });

  it("is asked for as long as the turn may take; then the failure has its own status", async () => {
    chat.provider.failChat({ status: 503 });
    const startedAt = performance.now();
    const response = await ask("hi");
    expect(response.status).toBe(502);
    expect(performance.now() - startedAt).toBeGreaterThan((TURN_SECONDS * 1_000) / 3);
    expect(requests().length).toBeGreaterThanOrEqual(3);
  });

  it("is not asked again where it wants longer than the turn may take", async () => {
    chat.provider.failChat({ status: 429, headers: { "retry-after": "30" } });
    const response = await ask("hi", true);
    expect(response.status).toBe(429);
    expect(response.headers.get("retry-after")).toBe("30");
    expect(requests()).toHaveLength(1);
  });

  it("fails a stream whose head had to leave with one error event, and no [DONE]", async () => {
    chat.provider.failChat({ status: 429 });
    const response = await ask("hi", true);
    expect(response.status).toBe(200);
    const text = await response.text();
    expect(text).toContain(": ping\n");
    expect(text).toMatch(
      /data: \{"error":\{"message":"[^"]+","type":"rate_limit_error","code":"provider_rate_limited",[^\n]+\}\}\n\n$/,
    );
    expect(text).not.toContain("[DONE]");
  });
});
