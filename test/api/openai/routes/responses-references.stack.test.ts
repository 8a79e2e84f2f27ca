/**
 * What a request brings in by its id (items of stored responses, documents) decides who may read the
 * response.
 */
import OpenAI from "openai";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { encodeId } from "../../../../src/schema/openai/ids.ts";
import { type ChatHarness, startChat } from "../../../support/stack/chat-harness.ts";
import { createFolder, publishDocuments } from "../../../support/stack/search-space.ts";
import { makeSpace, makeUser } from "../../../support/tenants/callers.ts";

const HERON = "The grey heron nests in tall trees near the river.";

let chat: ChatHarness;
/** Of a user who may read the space, with an agent of his own in a space of his own. */
let viewer: OpenAI;
let viewerId: string;
let agent: string;
let tools: OpenAI.Responses.FileSearchTool[];
let fileId: string;

beforeAll(async () => {
  chat = await startChat();
  const { db } = chat.database;
  viewerId = await makeUser(db, chat.organization);
  const own = await makeSpace(db, chat.organization, [[viewerId, "owner"]]);
  agent = await chat.addAgent({ space_id: own, created_by: viewerId, last_edited_by: viewerId });
  const { rows } = await db.owner.query("select num from spaces where id = $1", [chat.spaceId]);
  const target = {
    organization: chat.organization,
    space: { id: chat.spaceId, num: rows[0].num },
    userId: chat.userId,
  };
  const folderId = await createFolder(db, target, "Birds");
  await publishDocuments(db, target, [{ name: "heron.md", folderId, chunks: [{ text: HERON }] }]);
  tools = [{ type: "file_search", vector_store_ids: [encodeId("vectorStore", folderId)] }];
  fileId = encodeId("file", await upload(HERON));
});
afterAll(() => chat.close());
beforeEach(async () => {
  chat.provider.reset();
  await setRight("viewer");
  // What a key reaches is remembered for a moment.
  const apiKey = await chat.makeKey({ userId: viewerId });
  viewer = new OpenAI({ baseURL: `${chat.url}/v1`, apiKey, maxRetries: 0 });
});
afterEach(() => setRight(null));

async function upload(text: string): Promise<string> {
  const form = new FormData();
  form.append("file", new File([text], "plan.md"));
  form.append("space_id", chat.spaceId);
  const headers = { authorization: `Bearer ${chat.key}` };
  const answer = await fetch(`${chat.url}/v1/data/upload`, { method: "POST", headers, body: form });
  expect(answer.status).toBe(201);
  return ((await answer.json()) as { id: string }).id;
}

/** What the request's model is asked with. */
const seen = () => JSON.stringify(chat.provider.requests.findLast(({ route }) => route === "chat")!.body);
const setRight = (role: "viewer" | null) =>
  chat.database.db.owner.query(
    role === null
      ? "delete from space_members where space_id = $1 and user_id = $2"
      : `insert into space_members (space_id, user_id, organization_id, role)
         select id, $2, organization_id, 'viewer' from spaces where id = $1`,
    [chat.spaceId, viewerId],
  );
const searched = async () => {
  chat.provider.reply(
    { toolCalls: [{ id: "call_s", name: "file_search", arguments: '{"queries":["heron"]}' }] },
    { pieces: [HERON] },
  );
  return viewer.responses.create({ model: agent, input: "Heron?", tools });
};

describe("who no longer reaches what was brought in", () => {
  const documentOf = (background: boolean) => ({
    background,
    input: [{ role: "user" as const, content: [{ type: "input_file" as const, file_id: fileId }] }],
  });
  const question = { role: "user" as const, content: "And?" };
  it.each<[string, () => Promise<Partial<OpenAI.Responses.ResponseCreateParamsNonStreaming>>]>([
    [
      "a message by its reference",
      async () => {
        const { output } = await searched();
        const { id } = output.find(({ type }) => type === "message")!;
        return { input: [{ type: "item_reference", id: id! }, question] };
      },
    ],
    [
      "a search that is given back",
      async () => {
        const { output } = await searched();
        return { input: [output.find(({ type }) => type === "file_search_call") as never, question] };
      },
    ],
    ["a document by its file_id", async () => documentOf(false)],
    ["a document by its file_id, in the background", async () => documentOf(true)],
  ])("does not read or go on from a response with %s", async (_, ask) => {
    const made = await viewer.responses.create({ model: agent, ...(await ask()) } as never);
    const { id } = made as OpenAI.Responses.Response;
    await expect.poll(async () => (await viewer.responses.retrieve(id)).status).toBe("completed");
    expect(seen()).toContain("heron nests");
    await setRight(null);
    await expect
      .poll(() => viewer.responses.retrieve(id).then(String, ({ status }) => status), { timeout: 15_000 })
      .toBe(404);
    await expect(viewer.responses.inputItems.list(id)).rejects.toMatchObject({ status: 404 });
    await expect(
      viewer.responses.create({ model: agent, input: "Go on", previous_response_id: id }),
    ).rejects.toMatchObject({ status: 404, code: "previous_response_not_found" });
  });
});

describe("bounds of references", () => {
  it("refuses 101 of them, and takes one answer a hundred times", async () => {
    const { output } = await viewer.responses.create({ model: agent, input: "Hi" });
    const ask = (count: number) =>
      viewer.responses.create({
        model: agent,
        input: Array.from({ length: count }, () => ({ type: "item_reference" as const, id: output[0]!.id! })),
      });
    await expect(ask(101)).rejects.toMatchObject({ status: 400, param: "input" });
    const { id } = await ask(100);
    const ids = new Set<string>();
    for await (const item of viewer.responses.inputItems.list(id, { limit: 30 })) ids.add(item.id!);
    expect(ids.size).toBe(100);
  });
});
