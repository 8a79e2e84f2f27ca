/** Repeats of a chat are answered with the rights of now: what the caller may not see any more is 404. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { askUnderKey, readStream } from "../../../support/clients/kept-chat.ts";
import { type ChatHarness, startChat } from "../../../support/stack/chat-harness.ts";
import { publishDocuments } from "../../../support/stack/search-space.ts";
import { until } from "../../../support/until.ts";

const PIECES = Array.from({ length: 30 }, (_, index) => `piece${index} `);

let chat: ChatHarness;
let agent: string;

beforeAll(async () => {
  chat = await startChat({ parts: { unreadMaxMs: 3_000 } });
  agent = await chat.addAgent();
});
afterAll(() => chat.close());
beforeEach(() => chat.provider.reset());

const ask = (key: string, body: Record<string, unknown> = {}, sent: Parameters<typeof askUnderKey>[3] = {}) =>
  askUnderKey(chat, key, { model: agent, ...body }, sent);

it("is 404 for a caller who lost the agent's space, whether its turn runs or has ended", async () => {
  const [ended, running] = [randomUUID(), randomUUID()];
  await (await ask(ended)).text();
  chat.provider.reply({ pieces: PIECES, delayMsBetweenPieces: 500 });
  const leave = new AbortController();
  const stream = await ask(running, {}, { signal: leave.signal });
  const { rows } = await chat.database.db.owner.query(
    "delete from space_members where space_id = (select space_id from agents where id = $1) returning *",
    [agent],
  );
  try {
    for (const key of [ended, running]) {
      const refused = await until("a repeat is refused", async () => {
        const response = await ask(key);
        if (response.status !== 200) return response;
        await response.body!.cancel();
        return false;
      });
      expect(refused.status).toBe(404);
      expect(await refused.json()).toMatchObject({ detail: `Model '${agent}' not found` });
    }
  } finally {
    leave.abort();
    await stream.body!.cancel().catch(() => undefined);
    await chat.database.db.owner.query(
      "insert into space_members select * from jsonb_populate_recordset(null::space_members, $1)",
      [JSON.stringify(rows)],
    );
  }
  await until("the space is back", async () => (await ask(ended, { stream: true })).status === 200);
});

describe("an answer that rests on documents", () => {
  const list = { id: "a", name: "list_documents", arguments: "{}" };
  let reader: string;
  beforeAll(async () => {
    reader = await chat.addAgent({
      tool_attachments: [
        { tool_id: "list_documents", config: null },
        { tool_id: "knowledge_search", config: null },
      ],
    });
  });
  const askReader = (key: string, stream: boolean) => ask(key, { model: reader, stream });
  async function addDocument(): Promise<string> {
    const { rows } = await chat.database.db.owner.query<{ num: number }>(
      "select num from spaces where id = $1",
      [chat.spaceId],
    );
    const space = { id: chat.spaceId, num: rows[0]!.num };
    const [document] = await publishDocuments(
      chat.database.db,
      { organization: chat.organization, space, userId: chat.userId },
      [{ chunks: [{ text: "A heron stands." }] }],
    );
    return document!.id;
  }

  it.each([
    ["named to the model", list],
    [
      "cited to the model",
      { id: "a", name: "knowledge_search", arguments: JSON.stringify({ query: "heron" }) },
    ],
  ])("%s is given again while its caller reaches them, and is 404 afterwards", async (_, call) => {
    const documentId = await addDocument();
    const [stream, whole] = [randomUUID(), randomUUID()];
    for (const key of [stream, whole]) {
      chat.provider.reply({ toolCalls: [call] }, { pieces: PIECES });
      expect(await (await askReader(key, key === stream)).text()).toContain("piece29");
    }
    expect((await askReader(whole, false)).status).toBe(200);
    expect(readStream(await (await askReader(stream, true)).text()).isWhole).toBe(true);
    await chat.database.db.owner.query("update documents set deleted_at = now() where id = $1", [documentId]);
    for (const key of [stream, whole]) {
      const refused = await askReader(key, key === stream);
      expect(refused.status).toBe(404);
      expect(await refused.json()).toMatchObject({
        detail: "The answer is based on a document that you can no longer access.",
      });
    }
  });

  it("is 404 for a client that comes back during the turn, if one of them is out of reach", async () => {
    const documentId = await addDocument();
    const key = randomUUID();
    chat.provider.reply({ toolCalls: [list] }, { pieces: PIECES, delayMsBetweenPieces: 100 });
    const first = askReader(key, true);
    await until("what the model was shown is noted", async () => {
      const { rows } = await chat.database.db.owner.query<{ document_ids: string[] | null }>(
        "select document_ids from kept_turns where key = $1",
        [key],
      );
      return rows[0]?.document_ids?.includes(documentId);
    });
    await chat.database.db.owner.query("update documents set deleted_at = now() where id = $1", [documentId]);
    const refused = await askReader(key, true);
    expect(refused.status).toBe(404);
    expect(
      (
        await chat.database.db.owner.query("select from kept_turns where key = $1 and status = 'running'", [
          key,
        ])
      ).rowCount,
    ).toBe(1);
    expect(await (await first).text()).toContain("piece29");
  });
});
