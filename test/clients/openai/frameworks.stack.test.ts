/** What frameworks in JavaScript make of responses and embeddings: the Vercel AI SDK and LangChain. */
import { createOpenAI } from "@ai-sdk/openai";
import { HumanMessage, SystemMessage, ToolMessage } from "@langchain/core/messages";
import { tool as langchainTool } from "@langchain/core/tools";
import { ChatOpenAI, OpenAIEmbeddings } from "@langchain/openai";
import { Output, embed, embedMany, generateText, isStepCount, streamText, tool } from "ai";
import OpenAI, { toFile } from "openai";
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { chatIsReady } from "../../support/clients/sdk/chat-is-ready.ts";
import { ANIMAL, FOX_ANSWER, scriptedModel } from "../../support/clients/sdk/model.ts";
import { onSharedStack } from "../../support/stack/shared-stack.ts";

const IN_PARIS = "What is the weather in Paris?";
const ABOUT_FOXES = "Where does the fox dig her den?";
const City = z.object({ city: z.string() });
const Animal = z.object({ name: z.string(), legs: z.int() });

const { stack, tenants } = onSharedStack();
let store: string;
let file: string;

beforeAll(async () => {
  await chatIsReady(stack.url, tenants);
  stack.provider.replyAlways(scriptedModel);
  const openai = new OpenAI({ baseURL: `${stack.url}/v1`, apiKey: tenants.keys.owner });
  const metadata = { space_id: tenants.spaces.research };
  store = (await openai.vectorStores.create({ name: "For frameworks", metadata })).id;
  const text = "# Foxes\n\nThe fox digs her den under the roots of an old oak.\n";
  const fox = await toFile(Buffer.from(text), "fox.md", { type: "text/markdown" });
  file = (await openai.vectorStores.files.uploadAndPoll(store, fox, { pollIntervalMs: 50 })).id;
});

describe("the Vercel AI SDK", () => {
  const openai = () => createOpenAI({ baseURL: `${stack.url}/v1`, apiKey: tenants.keys.owner });
  const agent = () => openai().responses(tenants.agents.public);
  const tools = {
    get_weather: tool({
      description: "The weather of a city",
      inputSchema: City,
      execute: ({ city }) => `sunny in ${city}`,
    }),
  };

  it("generates and streams text from responses, with usage", async () => {
    const { text, usage, finishReason } = await generateText({ model: agent(), prompt: "Hello there" });
    expect(text).toBe("You said: Hello there");
    expect(finishReason).toBe("stop");
    expect(usage.outputTokens).toBeGreaterThan(0);
    const streamed = streamText({ model: agent(), prompt: "Hello stream" });
    const pieces: string[] = [];
    for await (const piece of streamed.textStream) pieces.push(piece);
    expect(pieces.length).toBeGreaterThan(1);
    expect(pieces.join("")).toBe("You said: Hello stream");
    expect(await streamed.finishReason).toBe("stop");
  });

  it("runs a tool in a loop of its own", async () => {
    const options = { model: agent(), prompt: IN_PARIS, tools, stopWhen: isStepCount(3) };
    expect((await generateText(options)).text).toContain("sunny in Paris");
    expect(await streamText(options).text).toContain("sunny in Paris");
  });

  it("searches a store, and gives the file as a source", async () => {
    const model = openai().responses("scripted-chat");
    // The library types its own tools for the version of tools before the one that it takes.
    const search = openai().tools.fileSearch({
      vectorStoreIds: [store],
      maxNumResults: 3,
    }) as never;
    const { text, sources } = await generateText({
      model,
      prompt: ABOUT_FOXES,
      tools: { file_search: search },
    });
    expect(text).toBe(FOX_ANSWER);
    expect(sources).toMatchObject([{ type: "source", sourceType: "document", filename: "fox.md" }]);
    const streamed = streamText({ model, prompt: ABOUT_FOXES, tools: { file_search: search } });
    expect(await streamed.text).toBe(FOX_ANSWER);
    expect(await streamed.sources).toMatchObject([{ providerMetadata: { openai: { fileId: file } } }]);
  });

  it("gets an object that a schema describes", async () => {
    const output = Output.object({ schema: Animal });
    expect((await generateText({ model: agent(), prompt: "Name an animal", output })).output).toEqual(ANIMAL);
  });

  it("throws for what is refused", async () => {
    const nobody = openai().responses("gpt-of-nobody");
    await expect(generateText({ model: nobody, prompt: "hi", maxRetries: 0 })).rejects.toMatchObject({
      statusCode: 404,
    });
  });

  it("embeds one text and many", async () => {
    const model = openai().embedding("scripted-embedding");
    const { embedding } = await embed({ model, value: "one fox" });
    expect(embedding).toHaveLength(64);
    const { embeddings } = await embedMany({ model, values: ["one fox", "two owls"] });
    expect(embeddings[0]).toEqual(embedding);
  });
});

describe("LangChain for JavaScript", () => {
  const model = (name = tenants.agents.public) =>
    new ChatOpenAI({
      model: name,
      apiKey: tenants.keys.owner,
      configuration: { baseURL: `${stack.url}/v1` },
      useResponsesApi: true,
      maxRetries: 0,
    });

  it("invokes and streams over responses, with usage", async () => {
    const answer = await model().invoke([new SystemMessage("Be kind."), new HumanMessage("Hello there")]);
    expect(answer.text).toBe("You said: Hello there");
    expect(answer).toMatchObject({ usage_metadata: { output_tokens: expect.any(Number) } });
    let text = "";
    for await (const chunk of await model().stream("Hello stream")) text += chunk.text;
    expect(text).toBe("You said: Hello stream");
  });

  it("has its tools called, and goes on from what they return", async () => {
    const weather = langchainTool(({ city }: z.infer<typeof City>) => `sunny in ${city}`, {
      name: "get_weather",
      description: "The weather of a city",
      schema: City,
    });
    const bound = model().bindTools([weather]);
    const called = await bound.invoke([new HumanMessage(IN_PARIS)]);
    expect(called.tool_calls).toMatchObject([{ name: "get_weather", args: { city: "Paris" } }]);
    const id = called.tool_calls![0]!.id!;
    const returned = new ToolMessage({ content: "sunny in Paris", tool_call_id: id });
    const answer = await bound.invoke([new HumanMessage(IN_PARIS), called, returned]);
    expect(answer.text).toContain("sunny in Paris");
  });

  it("searches a store, and keeps the annotations", async () => {
    const search = { type: "file_search" as const, vector_store_ids: [store] };
    const answer = await model("scripted-chat").invoke(ABOUT_FOXES, { tools: [search] });
    expect(answer.text).toBe(FOX_ANSWER);
    expect(JSON.stringify(answer.content)).toContain('"file_citation"');
  });

  it("gets an object that a schema describes, and throws for what is refused", async () => {
    const structured = model().withStructuredOutput(Animal, { name: "animal", method: "jsonSchema" });
    expect(await structured.invoke("Name an animal")).toEqual(ANIMAL);
    await expect(model("gpt-of-nobody").invoke("hi")).rejects.toMatchObject({ status: 404 });
  });

  it("embeds a query and documents", async () => {
    const embeddings = new OpenAIEmbeddings({
      model: "scripted-embedding",
      apiKey: tenants.keys.owner,
      configuration: { baseURL: `${stack.url}/v1` },
      maxRetries: 0,
    });
    const query = await embeddings.embedQuery("one fox");
    expect(query).toHaveLength(64);
    expect((await embeddings.embedDocuments(["one fox", "two owls"]))[0]).toEqual(query);
  });
});
