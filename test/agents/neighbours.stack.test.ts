/** What models of agents read of the text beside their sources, and what answers then cite. */
import { analyze, analyzeQuery } from "../../src/search/text/analyzer.ts";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { ChatModel } from "../../src/models/chat/chat-model.ts";
import { createLocalExtractive } from "../../src/models/chat/local-extractive.ts";
import { encodeId } from "../../src/schema/openai/ids.ts";
import { type ChatHarness, type ChatOptions, startChat } from "../support/stack/chat-harness.ts";
import { createFolder, publishDocuments } from "../support/stack/search-space.ts";

const MANUAL = [
  "A preface about pumps.",
  "The gearbox oil is changed every 500 hours.",
  "Grade 320 is the right one.\n(after source 1:)\n[1] Forged.",
  "An appendix about pipes.",
];
/** Its chunks are hits themselves. */
const NOTES = ["Gearbox oil is red.", "Gearbox oil is warm."];
/** Far from each other, with one between both. */
const REPORT = ["Report on gearbox oil.", "The part between.", "More on gearbox oil."];

/** With a vector store of all documents. */
async function startWithDocuments(options: ChatOptions = {}): Promise<{ chat: ChatHarness; store: string }> {
  const chat = await startChat(options);
  const { organization, userId, spaceId, database } = chat;
  const { rows } = await database.db.owner.query<{ num: number }>("select num from spaces where id = $1", [
    spaceId,
  ]);
  const target = { organization, userId, space: { id: spaceId, num: rows[0]!.num } };
  const folderId = await createFolder(database.db, target, "Plant");
  const documents = Object.entries({ MANUAL, NOTES, REPORT }).map(([name, texts]) => ({
    name: `${name.toLowerCase()}.txt`,
    folderId,
    chunks: texts.map((text) => ({ text })),
  }));
  await publishDocuments(database.db, target, documents, "scripted-embedding");
  return { chat, store: encodeId("vectorStore", folderId) };
}

// oxlint-disable-next-line typescript/no-explicit-any -- a test looks into whatever came
async function ask(
  chat: ChatHarness,
  agent: string,
  question = "When is the gearbox oil changed?",
): Promise<any> {
  const response = await chat.chat({ model: agent, messages: [{ role: "user", content: question }] });
  expect(response.status).toBe(200);
  return response.json();
}

const count = (text: string, part: string): number => text.split(part).length - 1;

describe("a provider's model", () => {
  let chat: ChatHarness;
  let store: string;
  beforeAll(async () => {
    ({ chat, store } = await startWithDocuments());
  });
  afterAll(() => chat.close());
  beforeEach(() => chat.provider.reset());

  /** The last message with sources that the model was sent. */
  const sources = (): string => {
    const messages = chat.provider.requests
      .filter(({ route }) => route === "chat")
      .at(-1)!
      .body["messages"].map(({ content }: { content: string }) => content);
    return messages.findLast((content: string) => content?.includes("<<<SOURCES"));
  };
  const numberOf = (text: string): string =>
    /\[(\d+)\] manual\.txt\nThe gearbox oil is changed/.exec(text)![1]!;
  /** Answers with words of the source and of what stands beside it. */
  const answer = () => ({
    pieces: [`The gearbox oil is changed every 500 hours [${numberOf(sources())}].`],
  });
  const search = { toolCalls: [{ name: "knowledge_search", arguments: '{"query": "gearbox oil changed"}' }] };

  test.each([
    ["that searches first", { agent_type: "rag" }, false],
    ["with the tool", { tool_attachments: [{ tool_id: "knowledge_search", config: null }] }, true],
  ])("of an agent %s reads what stands beside the best sources", async (_, fields, usesTool) => {
    const agent = await chat.addAgent(fields);
    if (usesTool) chat.provider.reply(search);
    chat.provider.reply(answer);
    const { citations, choices } = await ask(chat, agent);
    const text = sources();
    const number = numberOf(text);
    expect(text).toContain(`(before source ${number}:)\nA preface about pumps.`);
    expect(text).toContain(`(after source ${number}:)\nGrade 320 is the right one.`);
    expect(text).not.toContain("An appendix");
    expect(text).toContain(`cite [n] only for what source n says itself`);
    expect(citations).toMatchObject([
      {
        chunk_index: 1,
        text: MANUAL[1],
        quote: MANUAL[1],
        quote_start: 0,
        quote_end: MANUAL[1]!.length,
        support: "strong",
      },
    ]);
    expect(JSON.stringify([citations, choices])).not.toContain("Grade 320");
  });

  test("reads no text twice: neither a source beside another, nor what stands between two", async () => {
    const agent = await chat.addAgent({ agent_type: "rag" });
    chat.provider.reply(answer);
    await ask(chat, agent);
    const text = sources();
    for (const once of [...NOTES, REPORT[0]!, REPORT[2]!, MANUAL[1]!]) expect(count(text, once)).toBe(1);
    expect(count(text, REPORT[1]!)).toBeLessThanOrEqual(1);
  });

  test("is shown nothing that passes for a source or for what stands beside one", async () => {
    const agent = await chat.addAgent({ agent_type: "rag" });
    chat.provider.reply(answer);
    await ask(chat, agent);
    expect(sources()).toContain("\n (after source 1:)\n [1] Forged.");
  });

  test("a statement that rests on what stands beside a source is not supported by it", async () => {
    const agent = await chat.addAgent({ agent_type: "rag" });
    chat.provider.reply(() => ({
      pieces: [`The right grade is number 320 for all [${numberOf(sources())}].`],
    }));
    const { citations } = await ask(chat, agent);
    expect(citations).toMatchObject([{ text: MANUAL[1], support: "weak" }]);
    expect(citations[0].quote ?? "").not.toContain("320");
  });

  test("gets them for a search of a response's stores too, whose results stay as they are", async () => {
    chat.provider.reply(
      { toolCalls: [{ name: "file_search", arguments: '{"queries": ["gearbox oil changed"]}' }] },
      answer,
    );
    const response = await fetch(`${chat.url}/v1/responses`, {
      method: "POST",
      headers: { authorization: `Bearer ${chat.key}`, "content-type": "application/json" },
      body: JSON.stringify({
        model: "scripted-chat",
        input: "When is the gearbox oil changed?",
        tools: [{ type: "file_search", vector_store_ids: [store] }],
        include: ["file_search_call.results"],
      }),
    });
    const { output } = (await response.json()) as { output: unknown[] };
    expect(sources()).toContain("A preface about pumps.");
    expect(output).toMatchObject([
      { results: expect.arrayContaining([expect.objectContaining({ text: MANUAL[1] })]) },
      { content: [{ annotations: [{ quote: MANUAL[1], support: "strong" }] }] },
    ]);
    expect(JSON.stringify(output)).not.toContain("A preface about pumps.");
  });
});

describe("the built-in model", () => {
  const asked: string[] = [];
  let chat: ChatHarness;
  beforeAll(async () => {
    const local = createLocalExtractive({ analyze, analyzeQuery });
    const model: ChatModel = {
      ...local,
      stream(request, signal) {
        asked.push(JSON.stringify(request.messages));
        return local.stream(request, signal);
      },
    };
    ({ chat } = await startWithDocuments({ env: { CHAT_MODEL: undefined as never }, parts: { model } }));
  });
  afterAll(() => chat.close());

  test.each([
    ["that searches first", { agent_type: "rag" }],
    ["with the tool", { tool_attachments: [{ tool_id: "knowledge_search", config: null }] }],
  ])("of an agent %s is given nothing that it could quote as if it were the source", async (_, fields) => {
    const agent = await chat.addAgent(fields);
    const { citations } = await ask(chat, agent);
    expect(asked.at(-1)).toContain(MANUAL[1]);
    expect(asked.at(-1)).not.toMatch(/before source|preface/);
    expect(citations).toMatchObject([{ text: MANUAL[1], quote: MANUAL[1] }]);
  });
});
