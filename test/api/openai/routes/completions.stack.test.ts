import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { makeOrganization, makeSpace, makeUser } from "../../../support/tenants/callers.ts";
import { type ChatHarness, startChat } from "../../../support/stack/chat-harness.ts";
import { until } from "../../../support/until.ts";

let chat: ChatHarness;
let plain: string;

beforeAll(async () => {
  chat = await startChat();
  plain = await chat.addAgent({ system_prompt: "Be brief.", temperature: 0.3, max_tokens: 77 });
});
afterAll(() => chat.close());
beforeEach(() => chat.provider.reset());

const user = (content: unknown) => [{ role: "user", content }];
const lastRequest = () => chat.provider.requests.findLast((request) => request.route === "chat")!.body;
const turnOf = async (completionId: string) => {
  const id = completionId.replace("chatcmpl-", "");
  return until(`turn ${id} has ended`, async () => {
    const { rows } = await chat.database.db.owner.query(
      "select * from turns where id = $1 and status <> 'open'",
      [id],
    );
    return rows[0];
  });
};

describe("a whole answer", () => {
  it("has the specification's fields, the agent's id as its model and the provider's usage", async () => {
    const response = await chat.chat({ model: plain, messages: user("Hello there") });
    expect(response.status).toBe(200);
    const body: any = await response.json();
    expect(body).toEqual({
      id: expect.stringMatching(/^chatcmpl-/),
      object: "chat.completion",
      created: expect.any(Number),
      model: plain,
      choices: [
        {
          index: 0,
          message: {
            role: "assistant",
            content: "You said: Hello there",
            tool_calls: null,
            refusal: null,
            annotations: [],
          },
          finish_reason: "stop",
          logprobs: null,
        },
      ],
      usage: { prompt_tokens: expect.any(Number), completion_tokens: 4, total_tokens: expect.any(Number) },
      system_fingerprint: null,
      service_tier: null,
      citations: [],
    });
    expect(body.usage.total_tokens).toBe(body.usage.prompt_tokens + body.usage.completion_tokens);
    expect(await turnOf(body.id)).toMatchObject({
      status: "completed",
      error_code: null,
      user_id: chat.userId,
      space_id: chat.spaceId,
      starts_conversation: true,
    });
  });

  it("asks the provider with the agent's prompt and defaults, which the request overrides", async () => {
    await chat.chat({ model: plain, messages: user("one") });
    expect(lastRequest()).toMatchObject({
      model: "scripted-chat",
      temperature: 0.3,
      max_tokens: 77,
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "one" },
      ],
    });
    await chat.chat({
      model: plain,
      messages: user("two"),
      temperature: 1.1,
      max_completion_tokens: 5,
      response_format: { type: "json_object" },
    });
    expect(lastRequest()).toMatchObject({
      temperature: 1.1,
      max_tokens: 5,
      response_format: { type: "json_object" },
    });
  });

  it("accepts and ignores parameters that have no effect", async () => {
    const ignored = {
      top_p: 0.1,
      stop: ["x"],
      presence_penalty: 1,
      frequency_penalty: 1,
      seed: 4,
      n: 3,
      logit_bias: { 1: 2 },
      tools: [{ type: "function" }],
      foo: 1,
    };
    const response = await chat.chat({ model: plain, messages: user("hi"), ...ignored });
    expect(response.status).toBe(200);
    for (const name of Object.keys(ignored)) expect(lastRequest()).not.toHaveProperty(name);
  });

  it("joins text parts, keeps images, counts developer as system and ignores messages of tools", async () => {
    const image = { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } };
    await chat.chat({
      model: plain,
      messages: [
        { role: "developer", content: "Be kind." },
        {
          role: "user",
          content: [
            { type: "text", text: "first" },
            { type: "text", text: "second" },
          ],
        },
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id: "a", type: "function", function: { name: "f", arguments: "{}" } }],
        },
        { role: "tool", tool_call_id: "a", content: "42" },
        { role: "user", content: [{ type: "text", text: "see" }, image] },
      ],
    });
    expect(lastRequest()["messages"]).toEqual([
      { role: "system", content: "Be brief." },
      { role: "system", content: "Be kind." },
      { role: "user", content: "first\nsecond" },
      { role: "user", content: [{ type: "text", text: "see" }, image] },
    ]);
  });

  it("counts a conversation if the history has no assistant message", async () => {
    const agent = await chat.addAgent();
    const count = async () =>
      (await chat.database.db.owner.query("select conversation_count from agents where id = $1", [agent]))
        .rows[0].conversation_count;
    await chat.chat({ model: agent, messages: user("hi") });
    await chat.chat({
      model: agent,
      messages: [...user("hi"), { role: "assistant", content: "yes?" }, ...user("more")],
    });
    const last = await chat.chat({ model: agent, messages: user("again") });
    await turnOf(((await last.json()) as any).id);
    await until("two conversations are counted", async () => (await count()) >= 2);
    expect(await count()).toBe(2);
  });

  it("is counted by the tokenizer if the provider reports no usage", async () => {
    chat.provider.reply({ pieces: ["four little words here"], usage: false });
    const body: any = await (await chat.chat({ model: plain, messages: user("hi") })).json();
    expect(body.usage.completion_tokens).toBe(4);
    expect(body.usage.prompt_tokens).toBeGreaterThan(3);
  });
});

describe("who may chat", () => {
  it("answers 404 with the model's name for agents that do not exist for the caller", async () => {
    const { db } = chat.database;
    const rival = await makeOrganization(db);
    const rivalUser = await makeUser(db, rival);
    const rivalKey = await chat.makeKey({ of: rival, userId: rivalUser });
    const other = await makeSpace(db, chat.organization, [[chat.userId, "owner"]]);
    const scopedKey = await chat.makeKey({ spaces: [other] });
    const shared = await chat.addAgent({ is_public: true });
    const unknown = randomUUID();
    for (const [model, key] of [
      [unknown, chat.key],
      ["gpt-4o", chat.key],
      [plain, rivalKey],
      [shared, rivalKey],
      [plain, scopedKey],
      [shared, scopedKey],
    ] as const) {
      const response = await chat.chat({ model, messages: user("hi") }, { key });
      expect(response.status).toBe(404);
      expect(await response.json()).toMatchObject({ detail: `Model '${model}' not found` });
    }
  });

  it("lets everyone of the organization use a public agent, and lists what can be used", async () => {
    const colleague = await makeUser(chat.database.db, chat.organization);
    const key = await chat.makeKey({ userId: colleague });
    const shared = await chat.addAgent({ is_public: true, name: "Shared" });
    const system = await chat.addAgent({ is_public: true, from_system: true });
    expect((await chat.chat({ model: shared, messages: user("hi") }, { key })).status).toBe(200);
    const { object, data }: any = await (
      await fetch(`${chat.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } })
    ).json();
    expect(object).toBe("list");
    expect(data).toContainEqual({
      id: shared,
      name: "Shared",
      object: "model",
      created: expect.any(Number),
      owned_by: chat.organization.id,
    });
    expect(data.map((model: any) => model.id)).not.toContain(plain);
    expect(data.map((model: any) => model.id)).not.toContain(system);
  });

  it("refuses empty messages and unknown roles with 422", async () => {
    expect((await chat.chat({ model: plain, messages: [] })).status).toBe(422);
    expect((await chat.chat({ model: plain, messages: [{ role: "robot", content: "hi" }] })).status).toBe(
      422,
    );
  });
});
