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

/** What OpenAI has in chat alone. */
const MORE = { stop: ["END"], seed: 7, presence_penalty: 0.5 };

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
      ...MORE,
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
