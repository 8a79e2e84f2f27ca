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
beforeEach(() => {
  chat.provider.clearFaults();
  chat.provider.replyAlways();
  chat.provider.requests.length = 0;
});

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

/** The events of a stream: parsed chunks, and `[DONE]` as it is. */
async function events(response: Response): Promise<any[]> {
  const text = await response.text();
  return text
    .split("\n\n")
    .filter((event) => event.startsWith("data: "))
    .map((event) => (event === "data: [DONE]" ? "[DONE]" : JSON.parse(event.slice(6))));
}

describe("a whole answer", () => {
  it("has exactly the specification's fields, the agent's id as its model and the provider's usage", async () => {
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
          message: { role: "assistant", content: "You said: Hello there", tool_calls: null, refusal: null },
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

  it("joins text parts, keeps images, counts developer as system and passes over the client's tool traffic", async () => {
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

  it("counts a conversation where the history has no assistant message", async () => {
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

  it("is counted by the tokenizer where the provider reports no usage", async () => {
    chat.provider.reply({ pieces: ["four little words here"], usage: false });
    const body: any = await (await chat.chat({ model: plain, messages: user("hi") })).json();
    expect(body.usage.completion_tokens).toBe(4);
    expect(body.usage.prompt_tokens).toBeGreaterThan(3);
  });
});

describe("a streamed answer", () => {
  it("sends the role, the pieces as they come, the finish and [DONE], with usage null", async () => {
    const response = await chat.chat({ model: plain, messages: user("Hello there"), stream: true });
    expect(response.headers.get("content-type")).toMatch(/^text\/event-stream/);
    const [role, ...rest] = await events(response);
    expect(role).toMatchObject({
      object: "chat.completion.chunk",
      model: plain,
      choices: [{ index: 0, delta: { role: "assistant" }, finish_reason: null }],
    });
    expect(rest.pop()).toBe("[DONE]");
    expect(rest.pop().choices[0]).toMatchObject({ delta: {}, finish_reason: "stop" });
    expect(rest.map((chunk) => chunk.choices[0].delta.content)).toEqual([
      "You",
      " said",
      ": ",
      "Hello there",
    ]);
    for (const chunk of rest) expect(chunk.usage).toBeNull();
    expect(new Set(rest.map((chunk) => chunk.id))).toEqual(new Set([role.id]));
  });

  it("ends with a usage chunk where it was asked for", async () => {
    const all = await events(
      await chat.chat({
        model: plain,
        messages: user("hi"),
        stream: true,
        stream_options: { include_usage: true },
      }),
    );
    const usage = all.at(-2);
    expect(usage).toMatchObject({ choices: [], usage: { completion_tokens: 4 } });
    expect(all.slice(0, -2).every((chunk) => chunk.usage === null)).toBe(true);
  });

  it("brings large pieces whole to a reader who takes them slowly", async () => {
    const pieces = [
      "a".repeat(200_000),
      ...Array.from({ length: 20 }, (_, index) => String(index % 10).repeat(30_000)),
      "z".repeat(500_000),
    ];
    chat.provider.reply({ pieces });
    const response = await chat.chat({ model: plain, messages: user("hi"), stream: true });
    let text = "";
    for await (const part of response.body!.pipeThrough(new TextDecoderStream())) {
      text += part;
      await new Promise((resume) => setTimeout(resume, 1));
    }
    const chunks = text
      .split("\n\n")
      .filter((event) => event.startsWith("data: {"))
      .map((event) => JSON.parse(event.slice(6)));
    expect(chunks.map((chunk) => chunk.choices[0].delta.content ?? "").join("")).toBe(pieces.join(""));
    expect(text.endsWith("data: [DONE]\n\n")).toBe(true);
  });

  it("forwards a piece before the next one exists", async () => {
    chat.provider.reply({ pieces: ["first", "second"], delayMsBetweenPieces: 1_500 });
    const response = await chat.chat({ model: plain, messages: user("hi"), stream: true });
    const reader = response.body!.getReader();
    let seen = "";
    await until("the first piece is here", async () => {
      seen += new TextDecoder().decode((await reader.read()).value);
      return seen.includes("first");
    });
    expect(seen).not.toContain("second");
    await reader.cancel();
  });
});

describe("a failure before the first byte", () => {
  it.each([
    [
      "429 with Retry-After for the provider's rate limit",
      { status: 429, headers: { "retry-after": "600" } },
      429,
      { "retry-after": "600" },
    ],
    [
      "502 that is not to be retried where the provider said 4xx",
      { status: 400 },
      502,
      { "x-should-retry": "false" },
    ],
  ])("is %s", async (_, fault, status, headers) => {
    chat.provider.failChat(fault);
    for (const stream of [false, true]) {
      const response = await chat.chat({ model: plain, messages: user("hi"), stream });
      expect(response.status).toBe(status);
      for (const [name, value] of Object.entries(headers)) expect(response.headers.get(name)).toBe(value);
      expect(await response.json()).toEqual({ detail: expect.stringContaining("model provider") });
    }
  });

  it("is tried again while the provider is only briefly away", async () => {
    chat.provider.failChat({ status: 503 }, 1);
    expect((await chat.chat({ model: plain, messages: user("hi") })).status).toBe(200);
    expect(chat.provider.requests.length).toBe(2);
  });

  it("notes the turn as failed, with its code", async () => {
    chat.provider.failChat({ status: 400 });
    const agent = await chat.addAgent();
    await chat.chat({ model: agent, messages: user("hi") });
    const turn = await until("the turn is noted", async () => {
      const { rows } = await chat.database.db.owner.query(
        "select * from turns where agent_id = $1 and status <> 'open'",
        [agent],
      );
      return rows[0];
    });
    expect(turn).toMatchObject({ status: "failed", error_code: "rejected_by_provider" });
  });
});

describe("a failure in mid-stream", () => {
  it.each(["cut", "error", "garbage"] as const)(
    "(%s) is one error event, and no [DONE] follows",
    async (breakWith) => {
      chat.provider.reply({ pieces: ["one", "two", "three"], after: 2, breakWith });
      const all = await events(await chat.chat({ model: plain, messages: user("hi"), stream: true }));
      expect(all.at(-1)).toEqual({
        error: { message: expect.any(String), type: "server_error", code: "provider_unavailable" },
      });
      expect(all).not.toContain("[DONE]");
      expect(all.filter((chunk) => chunk.error)).toHaveLength(1);
    },
  );
});

describe("a client that goes away", () => {
  it("aborts the provider within 50 ms, and its turn and workflow end as cancelled", async () => {
    chat.provider.reply({ pieces: ["one", "two"], after: 1, breakWith: "hang" });
    // A workflow that this turn shared with others that were answered would end as completed.
    await until("the turns before are closed", () => chat.host.counts().open === 0);
    const leave = new AbortController();
    const agent = await chat.addAgent();
    const response = await chat.chat(
      { model: agent, messages: user("hi"), stream: true },
      { signal: leave.signal },
    );
    await response.body!.getReader().read();
    const leftAt = performance.now();
    leave.abort();
    const request = chat.provider.requests.at(-1)!;
    await until("the provider is aborted", () => request.abortedAt !== undefined);
    expect(request.abortedAt! - leftAt).toBeLessThan(50);
    await until("the turn is cancelled", async () => {
      const { rows } = await chat.database.db.owner.query(
        "select from turns where agent_id = $1 and status = 'cancelled'",
        [agent],
      );
      return rows.length === 1;
    });
    await until("its workflow is cancelled", async () => {
      const { count } = await chat.client.workflow.count(
        `ExecutionStatus = 'Canceled' AND WorkflowId STARTS_WITH 'chat-turns/api-${chat.host.apiProcessId}/'`,
      );
      return count >= 1;
    });
  });

  it("aborts a whole answer too", async () => {
    chat.provider.reply({ hang: true });
    const leave = new AbortController();
    const answer = chat
      .chat({ model: plain, messages: user("hi") }, { signal: leave.signal })
      .catch(() => undefined);
    const request = await until("the provider is asked", () => chat.provider.requests.at(-1));
    leave.abort();
    expect(await answer).toBeUndefined();
    await until("the provider is aborted", () => request.abortedAt !== undefined);
  });
});

describe("who may chat", () => {
  it("answers 404 with the model's name for agents that are unknown, no UUID, of another organization, or out of the key's scope", async () => {
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
      expect(await response.json()).toEqual({ detail: `Model '${model}' not found` });
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
