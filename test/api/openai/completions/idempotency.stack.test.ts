/** Repeats of a chat with one Idempotency-Key are one turn with one answer. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { askUnderKey, readStream } from "../../../support/clients/kept-chat.ts";
import { type ChatHarness, startChat } from "../../../support/stack/chat-harness.ts";
import { until } from "../../../support/until.ts";

const UNREAD_MAX_MS = 3_000;
const PIECES = Array.from({ length: 30 }, (_, index) => `piece${index} `);

let chat: ChatHarness;
let agent: string;

beforeAll(async () => {
  chat = await startChat({ parts: { unreadMaxMs: UNREAD_MAX_MS } });
  agent = await chat.addAgent();
});
afterAll(() => chat.close());
beforeEach(() => chat.provider.reset());

const ask = (key: string, body: Record<string, unknown> = {}, sent: Parameters<typeof askUnderKey>[3] = {}) =>
  askUnderKey(chat, key, { model: agent, ...body }, sent);
const calls = () => chat.provider.requests.filter((request) => request.route === "chat").length;

/** Begins a stream and goes away after some pieces. @returns what was seen of it. */
async function leaveAfter(key: string, pieces: number): Promise<ReturnType<typeof readStream>> {
  const leave = new AbortController();
  const response = await ask(key, {}, { signal: leave.signal });
  let text = "";
  for await (const part of response.body!.pipeThrough(new TextDecoderStream())) {
    text += part;
    if (text.split("piece").length > pieces) break;
  }
  leave.abort();
  return readStream(text.slice(0, text.lastIndexOf("\n\n") + 2));
}

describe("the same key", () => {
  it("gives a whole answer again, word by word, and asks the provider once", async () => {
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
        readStream(await (await ask(key, { stream_options: { include_usage: true } })).text()),
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
    "goes on after Last-Event-ID if a client left at piece %i: none lost, none twice",
    async (pieces) => {
      chat.provider.reply({ pieces: PIECES, delayMsBetweenPieces: 20 });
      const key = randomUUID();
      const before = await leaveAfter(key, pieces);
      const after = readStream(
        await (await ask(key, {}, { headers: { "last-event-id": String(before.ids.at(-1)) } })).text(),
      );
      expect([...before.ids, ...after.ids]).toEqual([0, ...PIECES.map((_, index) => index + 1), 32]);
      expect(before.text + after.text).toBe(PIECES.join(""));
      expect(after).toMatchObject({ isWhole: true, completion: before.completion });
      expect(readStream(await (await ask(key)).text()).text).toBe(PIECES.join(""));
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

describe("a turn whose client went away", () => {
  it("is cancelled if nobody comes back, and its key is 409 afterwards", async () => {
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

  it("is 409 if its process died, and a client that has seen a part never begins another", async () => {
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
      `update kept_turns
       set status = 'running', sealed_end = null, key_id = null, api_process_id = gen_random_uuid()
       where key = $1`,
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
  const secret = readStream(await (await ask(key)).text());
  expect(secret.text).toBe("pelican-secret");
  const without: any = await (
    await chat.chat({ model: agent, messages: [{ role: "user", content: "hi" }] })
  ).json();
  const { rows } = await until("the answer is kept", async () => {
    const found = await chat.database.db.owner.query(
      `select turn.turn_id, turn.sealed_end, piece.sealed
       from kept_turns turn
       join kept_turn_pieces piece using (turn_id)
       where turn.key = $1
         and turn.sealed_end is not null`,
      [key],
    );
    return found.rowCount === 1 && found;
  });
  expect(Buffer.concat([rows[0].sealed, rows[0].sealed_end]).toString("latin1")).not.toMatch(/pelican|stop/);
  const id = without.id.replace("chatcmpl-", "");
  await until(
    "the turn without the header is in the database",
    async () => (await chat.database.db.owner.query("select from turns where id = $1", [id])).rowCount === 1,
  );
  expect(
    (await chat.database.db.owner.query("select from kept_turns where turn_id = $1", [id])).rowCount,
  ).toBe(0);
});
