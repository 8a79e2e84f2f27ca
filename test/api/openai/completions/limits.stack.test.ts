import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";

import { type ChatHarness, startChat } from "../../../support/stack/chat-harness.ts";
import { type ScriptedProvider, startScriptedProvider } from "../../../support/provider/scripted-provider.ts";
import { until } from "../../../support/until.ts";

let chat: ChatHarness;
let spare: ScriptedProvider;
let agent: string;

beforeAll(async () => {
  spare = await startScriptedProvider();
  chat = await startChat({
    env: {
      CHAT_CONTEXT_TOKENS: "1000",
      MONTHLY_TOKENS_PER_ORGANIZATION: "5000",
      MONTHLY_TOKENS_PER_KEY: "1000",
      CHAT_FALLBACKS: JSON.stringify([
        { base_url: "http://127.0.0.1:9/v1", model: "gone" },
        { base_url: spare.url, api_key: "sk-spare", model: "spare-chat" },
      ]),
    },
  });
  agent = await chat.addAgent({ system_prompt: "Be brief.", model: "first-chat" });
});
afterAll(async () => {
  await chat.close();
  await spare.close();
});
beforeEach(() => {
  chat.provider.reset();
  spare.requests.length = 0;
});

const user = (content: string) => [{ role: "user", content }];

describe("a provider that is down before the first token", () => {
  it.each([{ status: 503 }, { status: 429 }, { garbage: true } as const])(
    "(%o) gives way to the next one, which is asked for its own model",
    async (fault) => {
      chat.provider.failChat(fault);
      for (const stream of [false, true]) {
        const response = await chat.chat({ model: agent, messages: user("hi"), stream });
        expect(response.status).toBe(200);
        expect(await response.text()).toContain("hi");
      }
      expect(spare.requests.map(({ body }) => body["model"])).toEqual(["spare-chat", "spare-chat"]);
      await until("its model is recorded", async () => {
        const { rowCount } = await chat.database.db.owner.query(
          "select from turn_calls where model = 'spare-chat'",
        );
        return rowCount! >= 2;
      });
    },
  );

  it("does not if the request itself is refused, or the answer has begun", async () => {
    chat.provider.failChat({ status: 400 });
    expect((await chat.chat({ model: agent, messages: user("hi") })).status).toBe(502);
    chat.provider.clearFaults();
    chat.provider.reply({ pieces: ["one", "two"], after: 1, breakWith: "cut" });
    expect(await (await chat.chat({ model: agent, messages: user("hi"), stream: true })).text()).toContain(
      '"error"',
    );
    expect(spare.requests).toEqual([]);
  });
});

describe("a conversation longer than the model's context", () => {
  const long = "word ".repeat(300);
  const messages = [...user(`first ${long}`), { role: "assistant", content: long }, ...user("last")];

  it.each([false, true])(
    "loses its oldest turns, and the answer's head says how many messages (stream: %s)",
    async (stream) => {
      const response = await chat.chat({ model: agent, messages, stream, max_tokens: 500 });
      expect(response.status).toBe(200);
      expect(response.headers.get("x-dropped-messages")).toBe("2");
      await response.text();
      expect(chat.provider.requests.at(-1)!.body["messages"]).toEqual([
        { role: "system", content: "Be brief." },
        { role: "user", content: "last" },
      ]);
      expect(
        (await chat.chat({ model: agent, messages: user("short") })).headers.get("x-dropped-messages"),
      ).toBeNull();
    },
  );

  it("is 400 if the last question alone is too long", async () => {
    const response = await chat.chat({ model: agent, messages: user("word ".repeat(2_000)) });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      detail: expect.stringContaining("context of 1000 tokens"),
    });
  });
});

describe("the month's tokens", () => {
  it("of a key that are used up refuse it with 429, and of an organization all its keys", async () => {
    const own = await chat.makeKey();
    const other = await chat.makeKey();
    const { rows } = await chat.database.db.owner.query(
      "select id from api_keys order by created_at desc, id desc limit 2",
    );
    const spend = async (keyId: string, tokens: number): Promise<void> => {
      await chat.chat({ model: agent, messages: user("hi") }, { key: own });
      const { rows: turns } = await until("a turn of the key is recorded", async () => {
        const found = await chat.database.db.owner.query(
          "select id from turns where api_key_id = $1 and status <> 'open' order by started_at limit 1",
          [keyId],
        );
        return found.rowCount === 1 && found;
      });
      await chat.database.db.owner.query("update turn_calls set prompt_tokens = $2 where turn_id = $1", [
        turns[0].id,
        tokens,
      ]);
    };
    const ownId = await until("the key is used", async () => {
      await chat.chat({ model: agent, messages: user("hi") }, { key: own });
      const { rows: used } = await chat.database.db.owner.query(
        "select api_key_id from turns where api_key_id = any($1) limit 1",
        [rows.map(({ id }) => id)],
      );
      return used[0]?.api_key_id as string | undefined;
    });
    await spend(ownId, 1_000);
    const refused = await until("the key is refused", async () => {
      const response = await chat.chat({ model: agent, messages: user("hi") }, { key: own });
      return response.status === 429 && response;
    });
    expect(await refused.json()).toMatchObject({
      detail: "The monthly budget of 1000 tokens of this API key is used up.",
    });
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(refused.headers.get("ratelimit-policy")).toMatch(/^"key-tokens";q=1000;w=\d+;qu="tokens"$/);
    expect((await chat.chat({ model: agent, messages: user("hi") }, { key: other })).status).toBe(200);
    await chat.database.db.owner.query("update turn_calls set prompt_tokens = 5000");
    const all = await until("the organization is refused", async () => {
      const response = await chat.chat({ model: agent, messages: user("hi") }, { key: other });
      return response.status === 429 && response;
    });
    expect(await all.json()).toMatchObject({
      detail: "The monthly budget of 5000 tokens of this organization is used up.",
    });
  });
});
