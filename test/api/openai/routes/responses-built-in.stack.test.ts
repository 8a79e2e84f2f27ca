/** Responses of the built-in model, which quotes and calls no functions. */
import OpenAI from "openai";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createLocalExtractive } from "../../../../src/models/chat/local-extractive.ts";
import { analyze, analyzeQuery } from "../../../../src/search/text/analyzer.ts";
import { encodeId } from "../../../../src/schema/openai/ids.ts";
import { type ChatHarness, startChat } from "../../../support/stack/chat-harness.ts";
import { type SearchSpace, createFolder, publishDocuments } from "../../../support/stack/search-space.ts";

let chat: ChatHarness;
let client: OpenAI;
let agent: string;
let store: string;

beforeAll(async () => {
  chat = await startChat({ parts: { model: createLocalExtractive({ analyze, analyzeQuery }) } });
  client = new OpenAI({ baseURL: `${chat.url}/v1`, apiKey: chat.key, maxRetries: 0 });
  const { db } = chat.database;
  const { rows } = await db.owner.query("select num from spaces where id = $1", [chat.spaceId]);
  const target: SearchSpace = {
    organization: chat.organization,
    space: { id: chat.spaceId, num: rows[0].num },
    userId: chat.userId,
  };
  const folderId = await createFolder(db, target, "Manuals");
  await publishDocuments(db, target, [
    { name: "gearbox.md", folderId, chunks: [{ text: "The gearbox oil is changed every 400 hours." }] },
    {
      name: "report.md",
      chunks: [{ text: "How often the gearbox oil is changed was asked in the rollout." }],
    },
  ]);
  agent = await chat.addAgent({ agent_type: "rag" });
  store = encodeId("vectorStore", folderId);
});
afterAll(() => chat.close());

const ask = (more: Partial<OpenAI.Responses.ResponseCreateParamsNonStreaming> = {}) =>
  client.responses.create({ model: agent, input: "How often is the gearbox oil changed?", ...more });

it("with stores named, it answers from them alone, also where the agent has sources of its own", async () => {
  const tools = [{ type: "file_search" as const, vector_store_ids: [store] }];

  const response = await ask({ tools, include: ["file_search_call.results"] });

  expect(response.output).toMatchObject([
    { type: "file_search_call", status: "completed", results: [{ filename: "gearbox.md" }] },
    { type: "message" },
  ]);
  expect(response.output_text).toContain("every 400 hours");
  expect(response.output_text).not.toContain("rollout");
  expect((await ask()).output_text).toContain("rollout");
});

it("refuses a JSON schema, which it could not keep to", async () => {
  const format = { type: "json_schema" as const, name: "answer", schema: { type: "object" } };

  await expect(ask({ text: { format } })).rejects.toMatchObject({ status: 400, param: "text.format" });
});
