/** Responses, over HTTP and by the official client: plain, streamed, with functions, kept, gone on from. */
import OpenAI from "openai";
import { zodTextFormat } from "openai/helpers/zod";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { type ChatHarness, startChat } from "../../../support/stack/chat-harness.ts";

let chat: ChatHarness;
let agent: string;
let client: OpenAI;

beforeAll(async () => {
  chat = await startChat();
  agent = await chat.addAgent({ system_prompt: "You are brief." });
  client = new OpenAI({ baseURL: `${chat.url}/v1`, apiKey: chat.key, maxRetries: 0 });
});
afterAll(() => chat.close());
beforeEach(() => chat.provider.reset());

const lastRequest = () => chat.provider.requests.findLast((request) => request.route === "chat")!.body;
const refusalOf = async (body: Record<string, unknown>) => {
  const error = await client.responses.create(body as never).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(OpenAI.APIError);
  const { status, param, code } = error as InstanceType<typeof OpenAI.APIError>;
  return { status, param, code };
};

const WEATHER = {
  type: "function",
  name: "get_weather",
  description: "The weather of a city",
  parameters: {
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
    additionalProperties: false,
  },
  strict: true,
} as const;

describe("a plain response", () => {
  it("answers a text with one message, usage and what the request asked for", async () => {
    const response = await client.responses.create({
      model: agent,
      input: "Hello there",
      instructions: "Be kind.",
      metadata: { topic: "greeting" },
      temperature: 0.3,
      top_p: 0.9,
      max_output_tokens: 50,
    });
    expect(response).toMatchObject({
      object: "response",
      status: "completed",
      model: agent,
      error: null,
      incomplete_details: null,
      instructions: "Be kind.",
      metadata: { topic: "greeting" },
      temperature: 0.3,
      top_p: 0.9,
      max_output_tokens: 50,
      parallel_tool_calls: true,
      tool_choice: "auto",
      truncation: "disabled",
      store: true,
      output: [
        {
          type: "message",
          role: "assistant",
          status: "completed",
          content: [{ type: "output_text", text: "You said: Hello there", annotations: [] }],
        },
      ],
    });
    expect(response.id).toMatch(/^resp_[0-9a-f]{32}$/);
    expect(response.output[0]!.id).toMatch(/^msg_[0-9a-f]{32}$/);
    expect(response.output_text).toBe("You said: Hello there");
    expect(response.usage!.total_tokens).toBe(response.usage!.input_tokens + response.usage!.output_tokens);
    expect(lastRequest()).toMatchObject({
      messages: [
        { role: "system", content: "You are brief." },
        { role: "system", content: "Be kind." },
        { role: "user", content: "Hello there" },
      ],
      temperature: 0.3,
      top_p: 0.9,
      max_tokens: 50,
    });
  });

  it("asks the configured model by its name, and nobody else's", async () => {
    const response = await client.responses.create({ model: "scripted-chat", input: "Hi" });
    expect(response).toMatchObject({ status: "completed", model: "scripted-chat" });
    expect(lastRequest()).toMatchObject({
      model: "scripted-chat",
      messages: [{ role: "user", content: "Hi" }],
    });
    expect(await refusalOf({ model: "gpt-5", input: "Hi" })).toEqual({
      status: 404,
      param: "model",
      code: "model_not_found",
    });
  });

  it("says that it is incomplete where the model stopped at its bound", async () => {
    chat.provider.reply({ pieces: ["Once upon"], finishReason: "length" });
    expect(await client.responses.create({ model: agent, input: "A tale" })).toMatchObject({
      status: "incomplete",
      incomplete_details: { reason: "max_output_tokens" },
      output: [{ status: "incomplete" }],
    });
  });

  it("passes pictures and sampling parameters on, and roles in their order", async () => {
    await client.responses.create({
      model: agent,
      input: [
        { role: "developer", content: "Look closely." },
        { role: "user", content: [{ type: "input_text", text: "Before" }] },
        { type: "message", role: "assistant", content: "I see." },
        {
          role: "user",
          content: [
            { type: "input_text", text: "What is it?" },
            { type: "input_image", image_url: "data:image/png;base64,iVBORw0KGgo=", detail: "low" },
          ],
        },
      ],
      reasoning: { effort: "low" },
      text: { verbosity: "low" },
      ...{ stop: ["END"], seed: 7, presence_penalty: 0.5 },
    });
    expect(lastRequest()).toMatchObject({
      messages: [
        { role: "system", content: "You are brief." },
        { role: "system", content: "Look closely." },
        { role: "user", content: "Before" },
        { role: "assistant", content: "I see." },
        {
          role: "user",
          content: [
            { type: "text", text: "What is it?" },
            { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=", detail: "low" } },
          ],
        },
      ],
      stop: ["END"],
      seed: 7,
      presence_penalty: 0.5,
      reasoning_effort: "low",
      verbosity: "low",
    });
  });

  it("reads a file that comes with the request", async () => {
    const data = Buffer.from("# Plan\n\nThe launch is in May.").toString("base64");
    await client.responses.create({
      model: agent,
      input: [
        {
          role: "user",
          content: [
            { type: "input_text", text: "When is the launch?" },
            { type: "input_file", filename: "plan.md", file_data: `data:text/markdown;base64,${data}` },
          ],
        },
      ],
    });
    expect(lastRequest()["messages"].at(-1).content).toContain("The launch is in May.");
  });
});

describe("a streamed response", () => {
  it("sends every event of the published sequence, each with its number", async () => {
    const stream = await client.responses.create({ model: agent, input: "Hello there", stream: true });
    const events = [];
    for await (const event of stream) events.push(event);
    expect(events.map(({ type }) => type)).toEqual([
      "response.created",
      "response.in_progress",
      "response.output_item.added",
      "response.content_part.added",
      ...Array.from({ length: 4 }, () => "response.output_text.delta"),
      "response.output_text.done",
      "response.content_part.done",
      "response.output_item.done",
      "response.completed",
    ]);
    expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_, index) => index));
    expect(events.at(-1)).toMatchObject({
      response: { status: "completed", output: [{ content: [{ text: "You said: Hello there" }] }] },
    });
  });

  it("names each event in a line of its own", async () => {
    const answer = await fetch(`${chat.url}/v1/responses`, {
      method: "POST",
      headers: { authorization: `Bearer ${chat.key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: agent, input: "Hi", stream: true }),
    });
    expect(answer.headers.get("content-type")).toMatch(/^text\/event-stream/);
    expect(await answer.text()).toMatch(/^event: response\.created\ndata: \{"type":"response\.created"/);
  });

  it("is put together by the helper of the client", async () => {
    const response = await client.responses.stream({ model: agent, input: "Hello there" }).finalResponse();
    expect(response.output_text).toBe("You said: Hello there");
  });

  it("gives a failure before the first piece its own status, and one after it as an event", async () => {
    chat.provider.failChat({ status: 400 }, 1);
    expect(await refusalOf({ model: agent, input: "Hi", stream: true })).toMatchObject({ status: 502 });
    chat.provider.reply({ pieces: ["a", "b", "c"], after: 2, breakWith: "cut" });
    const events = [];
    for await (const event of await client.responses.create({ model: agent, input: "Hi", stream: true }))
      events.push(event);
    expect(events.at(-1)).toMatchObject({
      type: "response.failed",
      response: { status: "failed", error: { code: "server_error" }, output: [{ status: "incomplete" }] },
    });
  });

  it("ends the turn of a client that goes away", async () => {
    chat.provider.reply({ pieces: ["a", "b"], heldBy: new Promise(() => undefined) });
    const stream = await client.responses.create({ model: agent, input: "Hi", stream: true });
    for await (const event of stream) if (event.type === "response.output_text.delta") break;
    await expect.poll(() => chat.provider.counts.aborted).toBe(1);
  });
});

describe("a form of the answer", () => {
  it("is passed on as a schema, and parsed by the client", async () => {
    chat.provider.reply({ pieces: ['{"city":', '"Rome"}'] });
    const response = await client.responses.parse({
      model: agent,
      input: "Where?",
      text: { format: zodTextFormat(z.object({ city: z.string() }), "place") },
    });
    expect(response.output_parsed).toEqual({ city: "Rome" });
    expect(lastRequest()["response_format"]).toMatchObject({
      type: "json_schema",
      json_schema: { name: "place", strict: true, schema: { type: "object" } },
    });
  });

  it("that the provider refuses is 400 and names the field", async () => {
    chat.provider.failChat(
      { status: 400, body: { error: { code: "invalid_json_schema", message: "No." } } },
      1,
    );
    const text = { format: { type: "json_schema", name: "x", schema: { type: "nothing" } } };
    expect(await refusalOf({ model: agent, input: "Hi", text })).toMatchObject({
      status: 400,
      param: "text.format.schema",
    });
  });
});

describe("functions of the client", () => {
  const asks = { toolCalls: [{ id: "call_1", name: "get_weather", arguments: '{"city":"Rome"}' }] };

  it("are returned as calls, whose outputs come back as items", async () => {
    chat.provider.reply(asks);
    const first = await client.responses.create({ model: agent, input: "Weather?", tools: [WEATHER] });
    expect(first).toMatchObject({
      status: "completed",
      output: [
        { type: "function_call", call_id: "call_1", name: "get_weather", arguments: '{"city":"Rome"}' },
      ],
    });
    expect(lastRequest()["tools"]).toEqual([
      {
        type: "function",
        function: {
          name: "get_weather",
          description: "The weather of a city",
          parameters: WEATHER.parameters,
          strict: true,
        },
      },
    ]);
    const second = await client.responses.create({
      model: agent,
      previous_response_id: first.id,
      input: [{ type: "function_call_output", call_id: "call_1", output: "Sunny" }],
      tools: [WEATHER],
    });
    expect(second.status).toBe("completed");
    expect(lastRequest()["messages"]).toMatchObject([
      { role: "system" },
      { role: "user", content: "Weather?" },
      { role: "assistant", tool_calls: [{ id: "call_1", function: { name: "get_weather" } }] },
      { role: "tool", tool_call_id: "call_1", content: "Sunny" },
    ]);
  });

  it("stream their arguments", async () => {
    chat.provider.reply(asks);
    const types = [];
    for await (const event of await client.responses.create({
      model: agent,
      input: "Weather?",
      tools: [WEATHER],
      tool_choice: { type: "function", name: "get_weather" },
      parallel_tool_calls: false,
      stream: true,
    }))
      types.push(event.type);
    expect(types).toEqual([
      "response.created",
      "response.in_progress",
      "response.output_item.added",
      "response.function_call_arguments.delta",
      "response.function_call_arguments.done",
      "response.output_item.done",
      "response.completed",
    ]);
    expect(lastRequest()).toMatchObject({
      tool_choice: { type: "function", function: { name: "get_weather" } },
      parallel_tool_calls: false,
    });
  });

  it("may be answered by an item that refers to the stored call", async () => {
    chat.provider.reply(asks);
    const first = await client.responses.create({ model: agent, input: "Weather?", tools: [WEATHER] });
    await client.responses.create({
      model: agent,
      input: [
        { role: "user", content: "Weather?" },
        { type: "item_reference", id: first.output[0]!.id! },
        { type: "function_call_output", call_id: "call_1", output: "Rain" },
      ],
      tools: [WEATHER],
    });
    expect(lastRequest()["messages"].at(-1)).toMatchObject({ role: "tool", content: "Rain" });
  });

  it("run after the agent's own tools that the model asks for at the same time", async () => {
    const helped = await chat.addAgent({ tool_attachments: [{ tool_id: "calculator" }] });
    chat.provider.reply({
      toolCalls: [
        { id: "own", name: "calculator", arguments: '{"expression":"1+1"}' },
        { id: "call_1", name: "get_weather", arguments: "{}" },
      ],
    });
    expect(await client.responses.create({ model: helped, input: "Both", tools: [WEATHER] })).toMatchObject({
      status: "completed",
      output: [{ type: "function_call", call_id: "call_1" }],
    });
  });
});

describe("a kept response", () => {
  it("is read, listed and deleted by the key that made it, and by no other", async () => {
    const made = await client.responses.create({ model: agent, input: "Remember me" });
    expect(await client.responses.retrieve(made.id)).toEqual(made);
    const items = [];
    for await (const item of client.responses.inputItems.list(made.id)) items.push(item);
    expect(items).toMatchObject([
      { type: "message", role: "user", content: [{ type: "input_text", text: "Remember me" }] },
    ]);
    const other = new OpenAI({ baseURL: `${chat.url}/v1`, apiKey: await chat.makeKey(), maxRetries: 0 });
    await expect(other.responses.retrieve(made.id)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    await expect(other.responses.delete(made.id)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    await expect(
      other.responses.create({ model: agent, input: "And?", previous_response_id: made.id }),
    ).rejects.toMatchObject({
      status: 404,
      code: "previous_response_not_found",
      param: "previous_response_id",
    });
    await client.responses.delete(made.id);
    await expect(client.responses.retrieve(made.id)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
  });

  it("is gone on from, with its items and without its instructions", async () => {
    const first = await client.responses.create({ model: agent, input: "One", instructions: "Count." });
    const second = await client.responses.create({
      model: agent,
      input: "Two",
      previous_response_id: first.id,
    });
    await client.responses.create({ model: agent, input: "Three", previous_response_id: second.id });
    expect(lastRequest()["messages"].map(({ content }: { content: string }) => content)).toEqual([
      "You are brief.",
      "One",
      "You said: One",
      "Two",
      "You said: Two",
      "Three",
    ]);
  });

  it("is kept nowhere with `store: false`", async () => {
    const made = await client.responses.create({ model: agent, input: "Forget me", store: false });
    await expect(client.responses.retrieve(made.id)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
  });

  it("is streamed again as it was", async () => {
    const made = await client.responses.create({ model: agent, input: "Again" });
    const events = [];
    for await (const event of await client.responses.retrieve(made.id, { stream: true })) events.push(event);
    expect(events[0]).toMatchObject({ type: "response.created", sequence_number: 0 });
    expect(events.at(-1)).toMatchObject({ type: "response.completed", response: { id: made.id } });
  });
});

describe("bad input", () => {
  it.each([
    ["a conversation", { conversation: "conv_1" }, "conversation"],
    ["a prompt", { prompt: { id: "pmpt_1" } }, "prompt"],
    ["a tool that is not there", { tools: [{ type: "web_search" }] }, "tools[0].type"],
    ["a choice of no tool", { tool_choice: { type: "function", name: "x" } }, "tool_choice"],
    [
      "an output of no call",
      { input: [{ type: "function_call_output", call_id: "call_9", output: "x" }] },
      "input[0].call_id",
    ],
    [
      "a file by its address",
      { input: [{ role: "user", content: [{ type: "input_file", file_url: "https://x.example/a.pdf" }] }] },
      "input[0].content[0].file_url",
    ],
    ["an item that is not there", { input: [{ type: "item_reference", id: "msg_1" }] }, "input[0].id"],
    ["an id that is none", { previous_response_id: "resp_1" }, "previous_response_id"],
    [
      "metadata of 17 keys",
      { metadata: Object.fromEntries([...Array(17).keys()].map((n) => [n, "x"])) },
      "metadata",
    ],
    ["a value of metadata that is too long", { metadata: { a: "x".repeat(513) } }, "metadata.a"],
    ["a background that is not kept", { background: true, store: false }, "background"],
    ["a temperature of 3", { temperature: 3 }, "temperature"],
  ])("refuses %s and names the field", async (_, body, param) => {
    expect(await refusalOf({ model: agent, input: "Hi", ...body })).toMatchObject({ status: 400, param });
  });

  it("refuses a conversation that does not fit, unless it may be cut", async () => {
    const long = Array.from({ length: 40 }, () => ({ role: "user", content: "word ".repeat(5_000) }));
    expect(await refusalOf({ model: agent, input: long })).toMatchObject({
      status: 400,
      code: "context_length_exceeded",
    });
    expect(
      await client.responses.create({ model: agent, input: long as never, truncation: "auto" }),
    ).toMatchObject({ status: "completed" });
  });
});
