/** What frameworks in Python make of responses, stores and tools: the OpenAI Agents SDK and LangChain. */
import OpenAI, { toFile } from "openai";
import { beforeAll, describe, expect, it } from "vitest";
import { chatIsReady } from "../../support/clients/sdk/chat-is-ready.ts";
import { ANIMAL, FOX_ANSWER, scriptedModel } from "../../support/clients/sdk/model.ts";
import { SET_UP_MS, missingPython, runProgram } from "../../support/clients/sdk/python.ts";
import type { Steps } from "../../support/clients/sdk/steps.ts";
import { unless } from "../../support/run/unless.ts";
import { onSharedStack } from "../../support/stack/shared-stack.ts";

const { stack, tenants } = onSharedStack();
let store: string;
const given = () => ({
  base_url: `${stack.url}/v1`,
  mcp_url: `${stack.url}/mcp`,
  key: tenants.keys.owner,
  space: tenants.spaces.research,
  agent: tenants.agents.public,
  chat_model: "scripted-chat",
  embedding_model: "scripted-embedding",
});

beforeAll(async () => {
  await chatIsReady(stack.url, tenants);
  stack.provider.replyAlways(scriptedModel);
  const openai = new OpenAI({ baseURL: `${stack.url}/v1`, apiKey: tenants.keys.owner });
  const metadata = { space_id: tenants.spaces.research };
  store = (await openai.vectorStores.create({ name: "For LangChain", metadata })).id;
  const text = "# Foxes\n\nThe fox digs her den under the roots of an old oak.\n";
  const fox = await toFile(Buffer.from(text), "fox.md", { type: "text/markdown" });
  await openai.vectorStores.files.uploadAndPoll(store, fox, { pollIntervalMs: 50 });
});

describe("the OpenAI Agents SDK", unless(missingPython), () => {
  let seen: Steps;
  beforeAll(async () => {
    seen = await runProgram({ file: "agents_sdk.py", given: given() });
  }, SET_UP_MS);

  it("answers from a vector store with FileSearchTool, whole and streamed, and cites the file", () => {
    const file = seen.value("upload_and_poll");
    expect(file.status).toBe("completed");
    for (const way of ["run", "run_streamed"])
      expect(seen.value(`${way} with FileSearchTool`)).toMatchObject({
        output: FOX_ANSWER,
        annotations: [{ type: "file_citation", file_id: file.id, filename: "fox.md" }],
        searches: [{ status: "completed", results: [{ file_id: file.id, filename: "fox.md" }] }],
      });
    expect(seen.value("run_streamed with FileSearchTool").events).toEqual(
      expect.arrayContaining(["response.output_text.delta", "response.completed", "message_output_created"]),
    );
  });

  it("runs a function of the program, whole and streamed", () => {
    for (const way of ["run", "run_streamed"])
      expect(seen.value(`${way} with a function`).output).toContain("sunny in Paris");
    expect(seen.value("calls of the function")).toEqual(["Paris", "Paris"]);
  });

  it("goes on after a response, and is answered by an agent of Holdfast", () => {
    expect(seen.value("run after a response").output).toBe("You said: And again");
    expect(seen.value("run by an agent of Holdfast")).toBe("You said: Hello agent");
  });
});

describe("LangChain for Python", unless(missingPython), () => {
  let seen: Steps;
  beforeAll(async () => {
    seen = await runProgram({ file: "langchain_client.py", given: { ...given(), store } });
  }, SET_UP_MS);

  it("invokes and streams over responses, with usage", () => {
    expect(seen.value("ChatOpenAI.invoke text")).toBe("You said: Hello there");
    expect(seen.value("ChatOpenAI.invoke")).toMatchObject({
      usage_metadata: { output_tokens: expect.any(Number) },
      response_metadata: { status: "completed" },
    });
    expect(seen.value("ChatOpenAI.stream")).toBe("You said: Hello stream");
  });

  it("has its tools called, and goes on from a response that is kept", () => {
    expect(seen.value("ChatOpenAI with a tool")).toMatchObject({
      calls: [{ name: "get_weather", args: { city: "Paris" } }],
      answer: expect.stringContaining("sunny in Paris"),
    });
    expect(seen.value("ChatOpenAI use_previous_response_id")).toBe("You said: Hello second");
  });

  it("gets an object that a schema describes", () => {
    expect(seen.value("ChatOpenAI.with_structured_output")).toEqual(ANIMAL);
  });

  it("searches a store, and keeps the citation", () => {
    const { text, content } = seen.value("ChatOpenAI with file_search");
    expect(text).toBe(FOX_ANSWER);
    expect(JSON.stringify(content)).toContain("fox.md");
  });

  it("embeds a query and documents", () => {
    const query = seen.value("OpenAIEmbeddings.embed_query");
    expect(query).toHaveLength(64);
    expect(seen.value("OpenAIEmbeddings.embed_documents")[0]).toEqual(query);
  });

  it("takes the tools and resources of the MCP server by its adapter", () => {
    expect(seen.value("MultiServerMCPClient.get_tools")).toEqual(
      expect.arrayContaining(["ask_agent", "read_document", "search"]),
    );
    expect(JSON.stringify(seen.value("search as a tool"))).toContain("roots of an old oak");
    expect(seen.value("load_mcp_resources").length).toBeGreaterThan(0);
  });
});
