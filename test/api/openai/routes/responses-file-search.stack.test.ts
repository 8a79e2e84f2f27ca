/** `file_search` of a response: what it finds, what it cites, and whose stores it reaches. */
import OpenAI from "openai";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { decodeId, encodeId } from "../../../../src/schema/openai/ids.ts";
import { type ChatHarness, startChat } from "../../../support/stack/chat-harness.ts";
import {
  type SearchSpace,
  createFolder,
  createOrganization,
  createSpace,
  publishDocuments,
} from "../../../support/stack/search-space.ts";
import { until } from "../../../support/until.ts";

const HERON = "The grey heron nests in tall trees near the river.";

let chat: ChatHarness;
let client: OpenAI;
let store: string;
let foreign: string;
let heron: string;

beforeAll(async () => {
  chat = await startChat();
  client = new OpenAI({ baseURL: `${chat.url}/v1`, apiKey: chat.key, maxRetries: 0 });
  const { db } = chat.database;
  const { rows } = await db.owner.query("select num from spaces where id = $1", [chat.spaceId]);
  const target: SearchSpace = {
    organization: chat.organization,
    space: { id: chat.spaceId, num: rows[0].num },
    userId: chat.userId,
  };
  const folderId = await createFolder(db, target, "Birds");
  const inner = await createFolder(db, target, "Inner", folderId);
  const [first] = await publishDocuments(db, target, [
    { name: "heron.md", folderId: inner, chunks: [{ text: HERON }] },
    { name: "elsewhere.md", chunks: [{ text: "A heron that is in no folder." }] },
  ]);
  heron = first!.id;
  store = encodeId("vectorStore", folderId);
  const other = await createSpace(db, await createOrganization(db));
  foreign = encodeId("vectorStore", await createFolder(db, other, "Theirs"));
});
afterAll(() => chat.close());
beforeEach(() => chat.provider.reset());

const lastRequest = () => chat.provider.requests.findLast((request) => request.route === "chat")!.body;
const searches = (...queries: string[]) => ({
  toolCalls: [{ id: "call_s", name: "file_search", arguments: JSON.stringify({ queries }) }],
});
const toolOf = (more: object = {}) => ({
  type: "file_search" as const,
  vector_store_ids: [store],
  ...more,
});

describe("file_search", () => {
  it("finds what is in the store and its folders, and cites it", async () => {
    chat.provider.reply(searches("Where does the heron nest?"), {
      pieces: ["The grey heron nests in tall trees [1]."],
    });
    const response = await client.responses.create({
      model: "scripted-chat",
      input: "Where does the heron nest?",
      tools: [toolOf()],
      include: ["file_search_call.results"],
    });
    expect(response.output).toMatchObject([
      {
        type: "file_search_call",
        status: "completed",
        queries: ["Where does the heron nest?"],
        results: [{ filename: "heron.md", file_id: encodeId("file", heron), text: HERON }],
      },
      {
        type: "message",
        content: [
          {
            text: "The grey heron nests in tall trees [1].",
            annotations: [
              {
                type: "file_citation",
                file_id: encodeId("file", heron),
                filename: "heron.md",
                index: 35,
                document_id: heron,
                quote: HERON,
                support: "strong",
                receipt: expect.any(String),
              },
            ],
          },
        ],
      },
    ]);
    expect(lastRequest()["messages"].at(-1)).toMatchObject({
      role: "tool",
      content: expect.stringContaining("[1] heron.md"),
    });
    const again = await client.responses.retrieve(response.id);
    expect(again.output[0]).toMatchObject({ type: "file_search_call", results: null });
  });

  it("streams the search before the answer, and its citations after it", async () => {
    chat.provider.reply(searches("heron"), { pieces: ["In tall", " trees [1]."] });
    const stream = client.responses.stream({ model: "scripted-chat", input: "Heron?", tools: [toolOf()] });
    const types: string[] = [];
    for await (const event of stream) types.push(event.type);
    expect(types).toEqual([
      "response.created",
      "response.in_progress",
      "response.output_item.added",
      "response.file_search_call.in_progress",
      "response.file_search_call.searching",
      "response.file_search_call.completed",
      "response.output_item.done",
      "response.output_item.added",
      "response.content_part.added",
      "response.output_text.delta",
      "response.output_text.delta",
      "response.output_text.annotation.added",
      "response.output_text.done",
      "response.content_part.done",
      "response.output_item.done",
      "response.completed",
    ]);
  });

  it("runs before a function of the client that is asked for at the same time", async () => {
    chat.provider.reply({
      toolCalls: [...searches("heron").toolCalls, { id: "call_f", name: "note", arguments: "{}" }],
    });
    const response = await client.responses.create({
      model: "scripted-chat",
      input: "Heron?",
      tools: [toolOf(), { type: "function", name: "note", parameters: {}, strict: false }],
    });
    expect(response.output).toMatchObject([
      { type: "file_search_call", status: "completed" },
      { type: "function_call", call_id: "call_f" },
    ]);
  });

  it("gives what it found to the response that goes on, to answer from and to cite", async () => {
    chat.provider.reply({
      toolCalls: [...searches("heron").toolCalls, { id: "call_f", name: "note", arguments: "{}" }],
    });
    const tools = [toolOf(), { type: "function" as const, name: "note", parameters: {}, strict: false }];
    const first = await client.responses.create({ model: "scripted-chat", input: "Heron?", tools });
    const output = { type: "function_call_output" as const, call_id: "call_f", output: "noted" };
    const ways = [
      { previous_response_id: first.id, input: [output] },
      { input: [{ role: "user" as const, content: "Heron?" }, ...first.output, output] as never },
    ];
    for (const way of ways) {
      chat.provider.reply({ pieces: ["The grey heron nests in tall trees [1]."] });
      const second = await client.responses.create({ model: "scripted-chat", tools, ...way });
      expect(JSON.stringify(lastRequest()["messages"])).toContain(HERON);
      expect(second.output).toMatchObject([
        { content: [{ annotations: [{ filename: "heron.md", quote: HERON }] }] },
      ]);
    }
  });

  it("keeps to the number of results, the threshold and the number of calls", async () => {
    chat.provider.reply(searches("heron"), searches("heron"), { pieces: ["Done."] });
    const response = await client.responses.create({
      model: "scripted-chat",
      input: "Heron?",
      tools: [toolOf({ max_num_results: 1, ranking_options: { score_threshold: 0.99 } })],
      max_tool_calls: 1,
      include: ["file_search_call.results"],
    });
    expect(response.output.filter(({ type }) => type === "file_search_call")).toHaveLength(1);
  });

  it("narrows by attributes, and names what is wrong with a filter", async () => {
    await chat.database.db.owner.query("update documents set metadata = $2 where id = $1", [
      heron,
      JSON.stringify({ kind: "bird" }),
    ]);
    const found = async (value: string) => {
      chat.provider.reply(searches("heron"), { pieces: ["Done."] });
      const response = await client.responses.create({
        model: "scripted-chat",
        input: "Heron?",
        tools: [toolOf({ filters: { type: "eq", key: "kind", value } })],
        include: ["file_search_call.results"],
      });
      const [item] = response.output;
      return item?.type === "file_search_call" ? item.results!.map(({ attributes }) => attributes) : [];
    };
    expect(await found("bird")).toEqual([{ kind: "bird" }]);
    expect(await found("fish")).toEqual([]);
    const filters = { type: "and", filters: [{ type: "like", key: "kind", value: "b" }] };
    await expect(
      client.responses.create({
        model: "scripted-chat",
        input: "Heron?",
        tools: [toolOf({ filters })],
      }),
    ).rejects.toMatchObject({ status: 400, param: "tools[0].filters.filters[0].type" });
  });

  it("reads a file of the caller's by its id, and one that is no file is 400", async () => {
    const uploaded = await client.files.create({
      file: new File(["The launch is in June."], "plan.txt"),
      purpose: "user_data",
    });
    const input = (file_id: string) => [
      { role: "user" as const, content: [{ type: "input_file" as const, file_id }] },
    ];
    const ask = (id: string) => client.responses.create({ model: "scripted-chat", input: input(id) });
    await ask(uploaded.id);
    expect(JSON.stringify(lastRequest()["messages"])).toContain("The launch is in June.");
    const param = "input[0].content[0].file_id";
    await expect(ask(encodeId("file", crypto.randomUUID()))).rejects.toMatchObject({ status: 400, param });
    await expect(ask("file-abc")).rejects.toMatchObject({
      status: 400,
      param,
      message: expect.stringContaining("must be `file-` and 32 hexadecimal digits"),
    });
  });

  it("cites the file that a document in the store was made of", async () => {
    const uploaded = await client.files.create({ file: new File([HERON], "own.txt"), purpose: "assistants" });
    await chat.database.db.owner.query(
      `insert into vector_store_files (document_id, organization_id, file_id)
       select id, organization_id, $2 from documents where id = $1`,
      [heron, decodeId("file", uploaded.id)],
    );
    chat.provider.reply(searches("heron"), { pieces: ["In tall trees near the river [1]."] });
    const response = await client.responses.create({
      model: "scripted-chat",
      input: "Heron?",
      tools: [toolOf()],
      include: ["file_search_call.results"],
    });
    expect(response.output).toMatchObject([
      { results: [{ file_id: uploaded.id, document_id: heron }] },
      { content: [{ annotations: [{ file_id: uploaded.id, document_id: heron }] }] },
    ]);
  });

  it("reaches no store of others, which is 404 as if it did not exist", async () => {
    for (const id of [foreign, encodeId("vectorStore", crypto.randomUUID())])
      await expect(
        client.responses.create({
          model: "scripted-chat",
          input: "Heron?",
          tools: [toolOf({ vector_store_ids: [id] })],
        }),
      ).rejects.toMatchObject({ status: 404, param: "tools[0].vector_store_ids[0]" });
  });

  it("finds nothing in a space that its caller has lost since the response began", async () => {
    const change = (text: string) => chat.database.db.owner.query(text, [chat.spaceId, chat.userId]);
    const { promise: heldBy, resolve: goOn } = Promise.withResolvers<void>();
    chat.provider.reply({ ...searches("heron"), pieces: ["Wa", "it."], heldBy }, { pieces: ["Nothing."] });
    const asked = client.responses.create({ model: "scripted-chat", input: "Heron?", tools: [toolOf()] });
    await until("the model is asked", async () => chat.provider.requests.some((one) => one.route === "chat"));
    await change("delete from space_members where space_id = $1 and user_id = $2");
    goOn();
    await asked;
    await change("insert into space_members select id, $2, organization_id, 'owner' from spaces where id=$1");
    expect(JSON.stringify(lastRequest()["messages"])).not.toContain("tall trees");
  });

  it("tells what the id of a store looks like, whatever the one given begins with", async () => {
    await expect(
      client.responses.create({
        model: "scripted-chat",
        input: "Heron?",
        tools: [toolOf({ vector_store_ids: ["vs_abc"] })],
      }),
    ).rejects.toMatchObject({
      status: 400,
      param: "tools[0].vector_store_ids[0]",
      message: expect.stringContaining("must be `vs_` and 32 hexadecimal digits"),
    });
  });

  it("lets nobody read the answer who does not reach its documents any more", async () => {
    chat.provider.reply(searches("heron"), { pieces: ["In tall trees [1]."] });
    const tools = [toolOf()];
    const made = await client.responses.create({ model: "scripted-chat", input: "Heron?", tools });
    expect(await client.responses.retrieve(made.id)).toMatchObject({ id: made.id });
    await chat.database.db.owner.query("update documents set deleted_at = now() where id = $1", [heron]);
    try {
      await expect(client.responses.retrieve(made.id)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
      await expect(
        client.responses.create({ model: "scripted-chat", input: "And?", previous_response_id: made.id }),
      ).rejects.toMatchObject({ status: 404, code: "previous_response_not_found" });
    } finally {
      await chat.database.db.owner.query("update documents set deleted_at = null where id = $1", [heron]);
    }
  });
});
