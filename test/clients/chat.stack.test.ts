import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { HumanMessage, SystemMessage } from "@langchain/core/messages";
import { ChatOpenAI } from "@langchain/openai";
import { generateText, streamText } from "ai";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type ChatHarness, startChat } from "../support/stack/chat-harness.ts";

const run = promisify(execFile);

let chat: ChatHarness;
let agent: string;

beforeAll(async () => {
  chat = await startChat();
  agent = await chat.addAgent({ tool_attachments: [{ tool_id: "current_time", config: null }] });
});
afterAll(() => chat.close());
beforeEach(() => {
  chat.provider.clearFaults();
  chat.provider.replyAlways();
});

const toolThenAnswer = (): void =>
  chat.provider.reply(
    { toolCalls: [{ id: "a", name: "current_time", arguments: "{}" }] },
    { pieces: ["It", " is", " late", "."] },
  );

describe("the Vercel AI SDK", () => {
  const model = () =>
    createOpenAICompatible({
      name: "holdfast",
      baseURL: `${chat.url}/v1`,
      apiKey: chat.key,
      includeUsage: true,
    })(agent);

  it("generates text, with its usage", async () => {
    const { text, finishReason, usage } = await generateText({ model: model(), prompt: "Hello there" });
    expect(text).toBe("You said: Hello there");
    expect(finishReason).toBe("stop");
    expect(usage).toMatchObject({ outputTokens: 4 });
  });

  it("streams text, through a turn with a tool too", async () => {
    toolThenAnswer();
    const { textStream, usage } = streamText({ model: model(), prompt: "What time is it?" });
    const pieces: string[] = [];
    for await (const piece of textStream) pieces.push(piece);
    expect(pieces).toEqual(["It", " is", " late", "."]);
    expect((await usage).totalTokens).toBeGreaterThan(4);
  });

  it("throws for a failure before the first byte, and sees one in mid-stream", async () => {
    chat.provider.failChat({ status: 400 });
    await expect(generateText({ model: model(), prompt: "hi", maxRetries: 0 })).rejects.toMatchObject({
      statusCode: 502,
    });
    chat.provider.clearFaults();
    chat.provider.reply({ pieces: ["one", "two"], after: 1, breakWith: "error" });
    const errors: unknown[] = [];
    const { fullStream } = streamText({ model: model(), prompt: "hi", onError: () => undefined });
    for await (const part of fullStream) if (part.type === "error") errors.push(part.error);
    expect(errors).toHaveLength(1);
  });
});

describe("LangChain's ChatOpenAI", () => {
  const model = () =>
    new ChatOpenAI({
      model: agent,
      apiKey: chat.key,
      configuration: { baseURL: `${chat.url}/v1` },
      maxRetries: 0,
    });

  it("invokes, with its usage", async () => {
    const answer = await model().invoke([new SystemMessage("Be kind."), new HumanMessage("Hello there")]);
    expect(answer.content).toBe("You said: Hello there");
    expect(answer.usage_metadata).toMatchObject({ output_tokens: 4 });
  });

  it("streams, through a turn with a tool too", async () => {
    toolThenAnswer();
    let text = "";
    for await (const chunk of await model().stream("What time is it?")) text += chunk.text;
    expect(text).toBe("It is late.");
  });

  it("throws for a failure", async () => {
    chat.provider.failChat({ status: 400 });
    await expect(model().invoke("hi")).rejects.toMatchObject({ status: 502 });
  });
});

describe("curl", () => {
  const curl = async (body: unknown, ...more: string[]) => {
    const headers = ["-H", `Authorization: Bearer ${chat.key}`, "-H", "Content-Type: application/json"];
    const { stdout } = await run("curl", [
      "-sS",
      "-N",
      ...more,
      ...headers,
      "-d",
      JSON.stringify(body),
      `${chat.url}/v1/chat/completions`,
    ]);
    return stdout;
  };
  const messages = [{ role: "user", content: "Hello there" }];

  it("gets a whole answer", async () => {
    expect(JSON.parse(await curl({ model: agent, messages })).choices[0].message.content).toBe(
      "You said: Hello there",
    );
  });

  it("gets a stream, and compression asked for does not hold it back", async () => {
    const text = await curl({ model: agent, messages, stream: true }, "--compressed");
    expect(text).toMatch(/^data: \{"id":"chatcmpl-/);
    expect(text.endsWith("data: [DONE]\n\n")).toBe(true);
  });

  it("gets the status of a failure", async () => {
    const answer = await curl({ model: "nobody", messages, stream: true }, "-w", "\n%{http_code}");
    const [body, status] = answer.split("\n");
    expect(status).toBe("404");
    expect(JSON.parse(body!)).toMatchObject({
      detail: "Model 'nobody' not found",
      error: { message: "Model 'nobody' not found", code: "model_not_found", param: "model" },
    });
  });
});
