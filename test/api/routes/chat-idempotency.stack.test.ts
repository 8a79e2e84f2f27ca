import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type ChatHarness, startChat } from "../../support/stack/chat-harness.ts";
import { publishDocuments } from "../../support/stack/search-space.ts";
import { until } from "../../support/until.ts";

const UNREAD_MAX_MS = 3_000;
const PIECES = Array.from({ length: 30 }, (_, index) => `piece${index} `);

let chat: ChatHarness;
let agent: string;

beforeAll(async () => {
  chat = await startChat({ parts: { unreadMaxMs: UNREAD_MAX_MS } });
  agent = await chat.addAgent();
});
afterAll(() => chat.close());
beforeEach(() => {
  chat.provider.clearFaults();
  chat.provider.replyAlways();
  chat.provider.requests.length = 0;
});

interface Seen {
  readonly ids: number[];
  readonly text: string;
  readonly isWhole: boolean;
  readonly completion: string;
}

function read(text: string): Seen {
  const events = text.split("\n\n").filter((event) => event.includes("data: {"));
  const parsed = events.map((event) => ({
    id: Number(/^id: (\d+)$/m.exec(event)?.[1]),
    data: JSON.parse(/^data: (.*)$/m.exec(event)![1]!),
  }));
  return {
    ids: parsed.map(({ id }) => id),
    text: parsed.map(({ data }) => data.choices?.[0]?.delta.content ?? "").join(""),
    isWhole: text.trimEnd().endsWith("data: [DONE]"),
    completion: parsed[0]?.data.id,
  };
}

const ask = (
  key: string,
  body: Record<string, unknown> = {},
  more: { headers?: Record<string, string>; signal?: AbortSignal; url?: string } = {},
) =>
  fetch(`${more.url ?? chat.url}/v1/chat/completions`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${chat.key}`,
      "content-type": "application/json",
      "idempotency-key": key,
      ...more.headers,
    },
    body: JSON.stringify({
      model: agent,
      messages: [{ role: "user", content: "Hello there" }],
      stream: true,
      ...body,
    }),
    ...(more.signal ? { signal: more.signal } : {}),
  });
const calls = () => chat.provider.requests.filter((request) => request.route === "chat").length;

/** Begins a stream and leaves it after some pieces. @returns what was seen of it. */
async function leaveAfter(key: string, pieces: number): Promise<Seen> {
  const leave = new AbortController();
  const response = await ask(key, {}, { signal: leave.signal });
  let text = "";
  for await (const part of response.body!.pipeThrough(new TextDecoderStream())) {
    text += part;
    if (text.split("piece").length > pieces) break;
  }
  leave.abort();
  return read(text.slice(0, text.lastIndexOf("\n\n") + 2));
}

describe("the same key", () => {
  it("gives a whole answer again, word by word, and the provider is paid once", async () => {
    const key = randomUUID();
    const first = await ask(key, { stream: false });
    expect(first.status).toBe(200);
    const answer = await first.json();
    const again = await Promise.all([1, 2].map(async () => (await ask(key, { stream: false })).json()));
    expect(again).toEqual([answer, answer]);
    expect(calls()).toBe(1);
  });

  it("gives those who ask while the turn runs its stream from the start", async () => {
    chat.provider.reply({ pieces: PIECES, delayMsBetweenPieces: 30 });
    const key = randomUUID();
    const all = await Promise.all(
      [0, 1, 2].map(async () =>
        read(await (await ask(key, { stream_options: { include_usage: true } })).text()),
      ),
    );
    for (const seen of all) expect(seen).toEqual(all[0]);
    expect(all[0]).toMatchObject({
      text: PIECES.join(""),
      isWhole: true,
      ids: [0, ...PIECES.map((_, index) => index + 1), 32, 33],
    });
    expect(calls()).toBe(1);
  });

  it.each([1, 7, 29])(
    "goes on behind Last-Event-ID after a client left at piece %i: none lost, none twice",
    async (pieces) => {
      chat.provider.reply({ pieces: PIECES, delayMsBetweenPieces: 20 });
      const key = randomUUID();
      const before = await leaveAfter(key, pieces);
      const after = read(
        await (await ask(key, {}, { headers: { "last-event-id": String(before.ids.at(-1)) } })).text(),
      );
      expect([...before.ids, ...after.ids]).toEqual([0, ...PIECES.map((_, index) => index + 1), 32]);
      expect(before.text + after.text).toBe(PIECES.join(""));
      expect(after).toMatchObject({ isWhole: true, completion: before.completion });
      expect(read(await (await ask(key)).text()).text).toBe(PIECES.join(""));
      expect(calls()).toBe(1);
    },
  );

  it("with another body is 422", async () => {
    const key = randomUUID();
    await (await ask(key)).text();
    const other = await ask(key, { temperature: 1 });
    expect(other.status).toBe(422);
    expect((await other.json()) as unknown).toMatchObject({
      detail: [{ loc: ["header", "idempotency-key"] }],
    });
  });

  it("starts anew after a failure before the first piece, and not after one in mid-stream", async () => {
    const key = randomUUID();
    chat.provider.failChat({ status: 400 });
    expect((await ask(key)).status).toBe(502);
    chat.provider.clearFaults();
    await until("the failure is noted", async () => (await ask(key)).status === 200);
    const broken = randomUUID();
    chat.provider.reply({ pieces: ["one", "two"], after: 1, breakWith: "error" });
    const first = await (await ask(broken)).text();
    const made = calls();
    expect(await (await ask(broken)).text()).toBe(first);
    expect(first).toContain('"error"');
    expect(calls()).toBe(made);
  });

  it("of another caller is another turn", async () => {
    const key = randomUUID();
    await (await ask(key)).text();
    const other = await chat.makeKey();
    await (await ask(key, {}, { headers: { authorization: `Bearer ${other}` } })).text();
    expect(calls()).toBe(2);
  });
});

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
      expect(await refused.json()).toEqual({ detail: `Model '${agent}' not found` });
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
  ])("%s is given again while its caller reaches them, and is 404 from then on", async (_, call) => {
    const documentId = await addDocument();
    const [stream, whole] = [randomUUID(), randomUUID()];
    for (const key of [stream, whole]) {
      chat.provider.reply({ toolCalls: [call] }, { pieces: PIECES });
      expect(await (await askReader(key, key === stream)).text()).toContain("piece29");
    }
    expect((await askReader(whole, false)).status).toBe(200);
    expect(read(await (await askReader(stream, true)).text()).isWhole).toBe(true);
    await chat.database.db.owner.query("update documents set deleted_at = now() where id = $1", [documentId]);
    for (const key of [stream, whole]) {
      const refused = await askReader(key, key === stream);
      expect(refused.status).toBe(404);
      expect(await refused.json()).toEqual({
        detail: "The answer rests on a document that is not reachable any more.",
      });
    }
  });

  it("is 404 to who comes back while its turn runs, once it rests on one that is out of reach", async () => {
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

describe("a turn that was left", () => {
  it("is cancelled when nobody came back, and its key is 409 from then on", async () => {
    chat.provider.reply({ pieces: ["piece", "two"], after: 1, breakWith: "hang" });
    const key = randomUUID();
    await leaveAfter(key, 1);
    const request = chat.provider.requests.at(-1)!;
    const leftAt = performance.now();
    await until("the provider is aborted", () => request.abortedAt !== undefined, 10_000);
    expect(request.abortedAt! - leftAt).toBeGreaterThan(UNREAD_MAX_MS * 0.6);
    await until("the key is lost", async () => (await ask(key)).status === 409);
    expect(calls()).toBe(1);
  });

  it("is 409 where its process died, and a client that has seen a part never begins another", async () => {
    const key = randomUUID();
    await (await ask(key)).text();
    await until(
      "the answer is kept",
      async () =>
        (
          await chat.database.db.owner.query(
            "select from kept_turns where key = $1 and status = 'completed'",
            [key],
          )
        ).rowCount === 1,
    );
    await chat.database.db.owner.query(
      "update kept_turns set status = 'running', sealed_end = null, key_id = null, api_process_id = gen_random_uuid() where key = $1",
      [key],
    );
    expect((await ask(key, {}, { headers: { "last-event-id": "4" } })).status).toBe(409);
    expect((await ask(key)).status).toBe(409);
    const unknown = await ask(randomUUID(), {}, { headers: { "last-event-id": "3" } });
    expect(unknown.status).toBe(409);
    expect(calls()).toBe(1);
  });
});

it("keeps nothing readable of an answer, and nothing at all without the header", async () => {
  const key = randomUUID();
  chat.provider.reply({ pieces: ["pelican-secret"] });
  const secret = read(await (await ask(key)).text());
  expect(secret.text).toBe("pelican-secret");
  const without: any = await (
    await chat.chat({ model: agent, messages: [{ role: "user", content: "hi" }] })
  ).json();
  const { rows } = await until("the answer is kept", async () => {
    const found = await chat.database.db.owner.query(
      "select t.turn_id, t.sealed_end, p.sealed from kept_turns t join kept_turn_pieces p using (turn_id) where key = $1 and sealed_end is not null",
      [key],
    );
    return found.rowCount === 1 && found;
  });
  expect(Buffer.concat([rows[0].sealed, rows[0].sealed_end]).toString("latin1")).not.toMatch(/pelican|stop/);
  const id = without.id.replace("chatcmpl-", "");
  await until(
    "the turn without the header is in the books",
    async () => (await chat.database.db.owner.query("select from turns where id = $1", [id])).rowCount === 1,
  );
  expect(
    (await chat.database.db.owner.query("select from kept_turns where turn_id = $1", [id])).rowCount,
  ).toBe(0);
});
