import { once } from "node:events";
import { createServer, globalAgent } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  type ChatEvent,
  type ChatModel,
  type ChatRequest,
  createChatModel,
} from "../../../src/models/chat/chat-model.ts";
import { analyze, analyzeQuery } from "../../../src/search/text/analyzer.ts";
import { createOpenAiChat } from "../../../src/models/chat/openai.ts";
import {
  type ChatReply,
  type ScriptedProvider,
  startScriptedProvider,
} from "../../support/provider/scripted-provider.ts";
import { until } from "../../support/until.ts";

let provider: ScriptedProvider;
let model: ChatModel;
beforeEach(async () => {
  provider = await startScriptedProvider();
  model = await createChatModel(
    { baseUrl: provider.url, apiKey: "k", chatModel: "gpt-4o" },
    { analyze, analyzeQuery },
  );
});
afterEach(() => provider.close());

const REQUEST: ChatRequest = { model: "gpt-4o", messages: [{ role: "user", content: "hello there" }] };

async function all(
  request: ChatRequest = REQUEST,
  signal = new AbortController().signal,
): Promise<ChatEvent[]> {
  const events: ChatEvent[] = [];
  for await (const event of model.stream(request, signal)) events.push(event);
  return events;
}

test("forwards each piece as it comes, then the end with the provider's usage", async () => {
  provider.reply({ pieces: ["Hel", "lo"] });
  expect(await all()).toEqual([
    { type: "content", text: "Hel" },
    { type: "content", text: "lo" },
    { type: "finish", reason: "stop", usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 } },
  ]);
});

test("the first piece arrives before the second is sent", async () => {
  provider.reply({ pieces: ["first", "second"], delayMsBetweenPieces: 300 });
  const events = model.stream(REQUEST, new AbortController().signal)[Symbol.asyncIterator]();
  const started = performance.now();
  expect((await events.next()).value).toEqual({ type: "content", text: "first" });
  expect(performance.now() - started).toBeLessThan(250);
  await events.return?.(undefined);
});

test("sends what was asked for, in the provider's words", async () => {
  await all({
    model: "gpt-4o",
    messages: [
      { role: "system", content: "be brief" },
      {
        role: "user",
        content: [
          { type: "text", text: "look" },
          { type: "image_url", image_url: { url: "data:image/png;base64,AA==" } },
        ],
      },
      { role: "assistant", content: "", tool_calls: [{ id: "c1", name: "lookup", arguments: "{}" }] },
      { role: "tool", tool_call_id: "c1", content: "found" },
    ],
    temperature: 0.2,
    max_tokens: 50,
    response_format: { type: "json_object" },
    reasoning: { effort: "low" },
    tools: [{ name: "lookup", description: "Looks up.", parameters: { type: "object" } }],
  });
  expect(provider.requests[0]?.body).toEqual({
    model: "gpt-4o",
    messages: [
      { role: "system", content: "be brief" },
      {
        role: "user",
        content: [
          { type: "text", text: "look" },
          { type: "image_url", image_url: { url: "data:image/png;base64,AA==" } },
        ],
      },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "c1", type: "function", function: { name: "lookup", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: "c1", content: "found" },
    ],
    stream: true,
    stream_options: { include_usage: true },
    temperature: 0.2,
    max_tokens: 50,
    response_format: { type: "json_object" },
    reasoning_effort: "low",
    tools: [
      {
        type: "function",
        function: { name: "lookup", description: "Looks up.", parameters: { type: "object" } },
      },
    ],
  });
});

test("puts tool calls together from their pieces", async () => {
  provider.reply({
    pieces: ["Let me look."],
    toolCalls: [
      { name: "search", arguments: '{"query":"a long enough query"}' },
      { id: "x", name: "clock", arguments: "{}" },
    ],
  });
  expect((await all()).slice(1)).toMatchObject([
    {
      type: "tool_calls",
      calls: [
        { id: "call_0", name: "search", arguments: '{"query":"a long enough query"}' },
        { id: "x", name: "clock", arguments: "{}" },
      ],
    },
    { type: "finish", reason: "tool_calls" },
  ]);
});

test("says that there is no usage where the provider gives none", async () => {
  provider.reply({ pieces: ["x"], usage: false });
  expect((await all()).at(-1)).toEqual({ type: "finish", reason: "stop", usage: null });
});

test.each<[string, ChatReply, object]>([
  [
    "a rate limit",
    { status: 429, headers: { "retry-after": "4" } },
    { code: "provider_rate_limited", retryAfterSeconds: 4 },
  ],
  ["a server error", { status: 500 }, { code: "provider_unavailable" }],
  ["a gateway's time-out", { status: 504 }, { code: "provider_timeout" }],
  ["a refused request", { status: 400 }, { code: "rejected_by_provider" }],
  ["no stream at all", { garbage: true }, { code: "provider_unavailable" }],
])("%s before the first piece has its own error, asked once", async (_name, reply, error) => {
  provider.reply(reply);
  await expect(all()).rejects.toMatchObject({ name: "DomainError", ...error });
  expect(provider.counts.chat).toBe(1);
});

test.each(["cut", "error", "garbage"] as const)(
  "a stream that ends in a %s fails behind the pieces that came",
  async (breakWith) => {
    provider.reply({ pieces: ["one", "two"], after: 1, breakWith });
    const seen: ChatEvent[] = [];
    const reading = (async () => {
      for await (const event of model.stream(REQUEST, new AbortController().signal)) seen.push(event);
    })();
    await expect(reading).rejects.toMatchObject({ code: "provider_unavailable" });
    expect(seen).toEqual([{ type: "content", text: "one" }]);
  },
);

test.each<[string, ChatReply]>([
  ["before the first piece", { hang: true }],
  ["in mid-stream", { pieces: ["one", "two"], after: 1, breakWith: "hang" }],
])("silence of the provider %s is a time-out", async (_name, reply) => {
  provider.reply(reply);
  model = await createOpenAiChat({ baseUrl: provider.url }, "gpt-4o", 200);
  await expect(all()).rejects.toMatchObject({ code: "provider_timeout" });
  await until("the provider's notice", () => provider.counts.aborted === 1);
});

test("a reader that takes its time is not taken for a silent provider", async () => {
  provider.reply({ pieces: ["one", "two"], delayMsBetweenPieces: 50 });
  model = await createOpenAiChat({ baseUrl: provider.url }, "gpt-4o", 200);
  const seen: ChatEvent[] = [];
  for await (const event of model.stream(REQUEST, new AbortController().signal)) {
    seen.push(event);
    await new Promise((resume) => setTimeout(resume, 300));
  }
  expect(seen).toHaveLength(3);
});

test.each<[string, ChatReply]>([
  ["before the first piece", { hang: true }],
  ["in mid-stream", { pieces: ["one", "two"], after: 1, breakWith: "hang" }],
])("an abort %s closes the provider's connection within 50 ms", async (_name, reply) => {
  provider.reply(reply);
  const abort = new AbortController();
  const reading = all(REQUEST, abort.signal);
  const error = reading.catch((thrown: unknown) => thrown);
  await until("the request", () => provider.counts.chat === 1);
  const aborted = performance.now();
  abort.abort();
  expect(await error).toMatchObject({ name: "AbortError" });
  await until("the provider's notice", () => provider.counts.aborted === 1);
  expect((provider.requests[0]?.abortedAt ?? Infinity) - aborted).toBeLessThan(50);
});

test("leaving the iteration closes the provider's connection", async () => {
  provider.reply({ pieces: ["one", "two"], after: 1, breakWith: "hang" });
  for await (const event of model.stream(REQUEST, new AbortController().signal))
    if (event.type === "content") break;
  await until("the provider's notice", () => provider.counts.aborted === 1);
  expect(provider.counts).toMatchObject({ chat: 1, aborted: 1 });
});

test("answers read to their end leave their connection for the next", async () => {
  for (let turn = 0; turn < 20; turn++) await all();
  expect(provider.counts.connections).toBeLessThanOrEqual(2);
});

test("the end of an answer may come behind its last event without costing the connection", async () => {
  const connections = new Set<unknown>();
  const server = createServer((_request, response) => {
    connections.add(response.socket);
    response.write(
      'data: {"choices":[{"index":0,"delta":{"content":"yes"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n',
    );
    setTimeout(() => response.end(), 5);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  model = await createOpenAiChat({ baseUrl: `http://127.0.0.1:${port}` }, "gpt-4o");
  const freed = globalAgent.getName({ host: "127.0.0.1", port });
  for (let turn = 0; turn < 5; turn++) {
    expect(await all()).toHaveLength(2);
    await until("the connection is free again", () => freed in globalAgent.freeSockets);
  }
  expect(connections.size).toBe(1);
  server.closeAllConnections();
  server.close();
});

test("a provider that sends the request elsewhere is followed", async () => {
  const server = createServer(
    (_request, response) =>
      void response.writeHead(307, { location: `${provider.url}/chat/completions` }).end(),
  );
  await once(server.listen(0, "127.0.0.1"), "listening");
  model = await createOpenAiChat(
    { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` },
    "gpt-4o",
  );
  provider.reply({ pieces: ["here"] });
  expect((await all())[0]).toEqual({ type: "content", text: "here" });
  server.closeAllConnections();
  server.close();
});
