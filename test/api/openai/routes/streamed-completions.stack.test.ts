/** Streamed chat completions, and chats that fail or whose client goes away. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type ChatHarness, startChat } from "../../../support/stack/chat-harness.ts";
import { until } from "../../../support/until.ts";

let chat: ChatHarness;
let plain: string;

beforeAll(async () => {
  chat = await startChat();
  plain = await chat.addAgent();
});
afterAll(() => chat.close());
beforeEach(() => chat.provider.reset());

const user = (content: unknown) => [{ role: "user", content }];

/** The events of a stream: chunks are parsed, `[DONE]` is left as it is. */
async function events(response: Response): Promise<any[]> {
  const text = await response.text();
  return text
    .split("\n\n")
    .filter((event) => event.startsWith("data: "))
    .map((event) => (event === "data: [DONE]" ? "[DONE]" : JSON.parse(event.slice(6))));
}

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

  it("ends with a usage chunk if it was asked for", async () => {
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
      expect(await response.json()).toMatchObject({ detail: expect.stringContaining("model provider") });
    }
  });

  it("is tried again while the provider is only briefly away", async () => {
    chat.provider.failChat({ status: 503 }, 1);
    expect((await chat.chat({ model: plain, messages: user("hi") })).status).toBe(200);
    expect(chat.provider.requests).toHaveLength(2);
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
        error: {
          message: expect.any(String),
          type: "server_error",
          code: "provider_unavailable",
          param: null,
          doc_url: expect.stringMatching(/\/docs\/errors\/provider_unavailable$/),
        },
      });
      expect(all).not.toContain("[DONE]");
      expect(all.filter((chunk) => chunk.error)).toHaveLength(1);
    },
  );
});

describe("a client that goes away", () => {
  it("aborts the provider within 50 ms, and its turn and workflow end as cancelled", async () => {
    chat.provider.reply({ pieces: ["one", "two"], after: 1, breakWith: "hang" });
    // Turns share a workflow, which ends as completed if one of them was answered.
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
