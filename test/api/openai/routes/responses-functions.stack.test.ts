/** Functions of the client, which a response asks for and whose outputs come back. */
import OpenAI from "openai";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
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

  it("may go without an output: the model is told that there was none", async () => {
    chat.provider.reply(asks);
    const first = await client.responses.create({ model: agent, input: "Weather?", tools: [WEATHER] });
    const more = { model: agent, previous_response_id: first.id, input: "Never mind." };
    expect((await client.responses.create(more)).status).toBe("completed");
    expect(lastRequest()["messages"]).toContainEqual(
      expect.objectContaining({ role: "tool", tool_call_id: "call_1", content: "(no output was given)" }),
    );
  });
});

it.each([
  ["an empty text", { input: "" }],
  ["no items", { input: [] }],
  ["a tool that must be called where there is none", { input: "Hello", tool_choice: "required" as const }],
])("%s is answered, unlike by OpenAI", async (_, asked) => {
  for (const model of [agent, "scripted-chat"])
    expect((await client.responses.create({ model, ...asked })).status).toBe("completed");
});
