/** Responses in the background: they outlive their client, and are followed, cancelled and deleted. */
import OpenAI from "openai";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { decodeId } from "../../../../src/schema/openai/ids.ts";
import { type ChatHarness, startChat } from "../../../support/stack/chat-harness.ts";

const PIECES = Array.from({ length: 20 }, (_, index) => `piece${index} `);

let chat: ChatHarness;
let agent: string;
let client: OpenAI;

beforeAll(async () => {
  chat = await startChat();
  agent = await chat.addAgent();
  client = new OpenAI({ baseURL: `${chat.url}/v1`, apiKey: chat.key, maxRetries: 0 });
});
afterAll(() => chat.close());
beforeEach(() => chat.provider.reset());

async function ended(id: string, status: string): Promise<void> {
  await expect
    .poll(async () => (await client.responses.retrieve(id)).status, { timeout: 15_000 })
    .toBe(status);
}
const numbersOf = (events: readonly { sequence_number: number }[]) =>
  events.map(({ sequence_number: number }) => number);

describe("a response in the background", () => {
  it("is answered at once as queued, and polled until it has ended", async () => {
    chat.provider.reply({ pieces: PIECES, delayMsBetweenPieces: 20 });
    const queued = await client.responses.create({ model: agent, input: "Think", background: true });
    expect(queued).toMatchObject({ status: "queued", background: true, output: [], usage: null });
    await ended(queued.id, "completed");
    const response = await client.responses.retrieve(queued.id);
    expect(response).toMatchObject({ id: queued.id, background: true, output_text: PIECES.join("") });
    expect(response.completed_at).toBeGreaterThanOrEqual(response.created_at);
  });

  it("goes on when its client has left, and is followed from any event without a gap", async () => {
    chat.provider.reply({ pieces: PIECES, delayMsBetweenPieces: 60 });
    const seen = [];
    const stream = await client.responses.create({
      model: agent,
      input: "Think",
      background: true,
      stream: true,
    });
    let id = "";
    for await (const event of stream) {
      seen.push(event);
      if (event.type === "response.created") ({ id } = event.response);
      if (event.type === "response.output_text.delta") break;
    }
    expect(seen.map(({ type }) => type).slice(0, 3)).toEqual([
      "response.created",
      "response.queued",
      "response.in_progress",
    ]);
    const last = seen.at(-1)!.sequence_number;
    const rest = [];
    for await (const event of await client.responses.retrieve(id, { stream: true, starting_after: last }))
      rest.push(event);
    expect(numbersOf([...seen, ...rest])).toEqual([...seen, ...rest].map((_, index) => index));
    expect(rest.at(-1)).toMatchObject({
      type: "response.completed",
      response: { output: [{ content: [{ text: PIECES.join("") }] }] },
    });
    const again = [];
    for await (const event of await client.responses.retrieve(id, { stream: true })) again.push(event);
    expect(again).toEqual([...seen, ...rest]);
  });

  it("is cancelled once, with what it has written, and cancelled again without a change", async () => {
    chat.provider.reply({ pieces: ["Half", " more"], heldBy: new Promise(() => undefined) });
    const { aborted } = { ...chat.provider.counts };
    const { id } = await client.responses.create({ model: agent, input: "Think", background: true });
    await expect
      .poll(async () => (await client.responses.retrieve(id)).output_text, { timeout: 10_000 })
      .toBe("Half");
    const cancelled = await client.responses.cancel(id);
    expect(cancelled).toMatchObject({
      status: "cancelled",
      output: [{ status: "incomplete", content: [{ text: "Half" }] }],
    });
    await expect.poll(() => chat.provider.counts.aborted).toBe(aborted + 1);
    expect(await client.responses.cancel(id)).toEqual(cancelled);
    expect(await client.responses.retrieve(id)).toMatchObject({ ...cancelled });
  });

  it("waits for a provider that is down, says so, and is answered once it is back", async () => {
    const { chat: calls } = { ...chat.provider.counts };
    chat.provider.failChat({ status: 503, headers: { "retry-after": "600" } });
    const { id } = await client.responses.create({ model: agent, input: "Think", background: true });
    await expect
      .poll(async () => await client.responses.retrieve(id), { timeout: 15_000 })
      .toMatchObject({ status: "in_progress", waiting_for: "provider_unavailable" });
    expect(chat.provider.counts.chat).toBe(calls + 1);
    chat.provider.clearFaults();
    const { rowCount } = await chat.database.db.owner.query(
      "update responses set retry_at = now() where id = $1 and outages = 1",
      [decodeId("response", id)],
    );
    expect(rowCount).toBe(1);
    await ended(id, "completed");
    const response = await client.responses.retrieve(id);
    expect(response).toMatchObject({ output_text: "You said: Think" });
    expect(response).not.toHaveProperty("waiting_for");
  });

  it("says soon that it waits for a provider that is down, and no more once that answers", async () => {
    const held = Promise.withResolvers<void>();
    const { chat: calls } = { ...chat.provider.counts };
    chat.provider.failChat({ status: 503 });
    chat.provider.reply({ pieces: ["Half", " more"], heldBy: held.promise });
    const { id } = await client.responses.create({ model: agent, input: "Think", background: true });
    await expect
      .poll(async () => await client.responses.retrieve(id), { timeout: 3_000, interval: 100 })
      .toMatchObject({ status: "in_progress", waiting_for: "provider_unavailable" });
    chat.provider.clearFaults();
    const refused = chat.provider.counts.chat;
    // The first try, and those after a quarter, a half, one and two seconds.
    expect(refused - calls).toBeLessThanOrEqual(5);
    await expect
      .poll(async () => (await client.responses.retrieve(id)).output_text, { timeout: 10_000 })
      .toBe("Half");
    expect(await client.responses.retrieve(id)).not.toHaveProperty("waiting_for");
    held.resolve();
    await ended(id, "completed");
    expect(chat.provider.counts.chat).toBe(refused + 1);
    const { rows } = await chat.database.db.owner.query(
      "select attempt, outages from responses where id = $1",
      [decodeId("response", id)],
    );
    expect(rows).toEqual([{ attempt: 1, outages: 0 }]);
  });

  it("is followed by ten streams of a key at once, and one more is refused before anything is made", async () => {
    const held = Promise.withResolvers<void>();
    chat.provider.replyAlways({ pieces: ["Half", " more"], heldBy: held.promise });
    const key = await chat.makeKey();
    const mine = new OpenAI({ baseURL: `${chat.url}/v1`, apiKey: key, maxRetries: 0 });
    const asked = { model: agent, input: "Think", background: true } as const;
    const { id } = await mine.responses.create(asked);
    await expect.poll(async () => (await mine.responses.retrieve(id)).output_text).toBe("Half");
    const open = [];
    for (let no = 1; no <= 10; no += 1) open.push(await mine.responses.retrieve(id, { stream: true }));
    const calls = chat.provider.counts.chat;
    const refusal = { status: 429, code: "too_many_open" };
    await expect(mine.responses.retrieve(id, { stream: true })).rejects.toMatchObject(refusal);
    await expect(mine.responses.create({ ...asked, stream: true })).rejects.toMatchObject(refusal);
    expect(chat.provider.counts.chat).toBe(calls);
    expect(await mine.responses.retrieve(id)).toMatchObject({ status: "in_progress" });
    open.pop()?.controller.abort();
    await expect
      .poll(() =>
        mine.responses.retrieve(id, { stream: true }).then(
          (stream) => open.push(stream),
          () => 0,
        ),
      )
      .toBe(10);
    held.resolve();
    for (const stream of open) {
      let last = "";
      for await (const { type } of stream) last = type;
      expect(last).toBe("response.completed");
    }
    // The seats of streams that have ended are free.
    for await (const { type } of await mine.responses.create({ ...asked, stream: true }))
      if (type === "response.completed") return;
    expect.unreachable();
  });

  it("ends when it is deleted", async () => {
    chat.provider.reply({ pieces: ["Half", " more"], heldBy: new Promise(() => undefined) });
    const { aborted, chat: calls } = { ...chat.provider.counts };
    const { id } = await client.responses.create({ model: agent, input: "Think", background: true });
    await expect.poll(() => chat.provider.counts.chat).toBe(calls + 1);
    await client.responses.delete(id);
    await expect.poll(() => chat.provider.counts.aborted).toBe(aborted + 1);
    await expect(client.responses.retrieve(id)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
  });

  it.each([
    ["was lost", () => "00000000-0000-0000-0000-000000000000"],
    ["has let go of it", () => chat.host.apiProcessId],
  ])("ends as it was written if its process %s behind its last event", async (_, processOf) => {
    chat.provider.reply({ pieces: ["All"] });
    const { id } = await client.responses.create({ model: agent, input: "Think", background: true });
    await ended(id, "completed");
    const whole = await client.responses.retrieve(id);
    const calls = chat.provider.counts.chat;
    const { rowCount } = await chat.database.db.owner.query(
      `with output as (
         delete from response_items
         where response_id = $1
           and is_output
       )
       update responses
       set status = 'in_progress', sealed_response = null, response_key_id = null, api_process_id = $2,
           created_at = now() - interval '1 minute'
       where id = $1`,
      [decodeId("response", id), processOf()],
    );
    expect(rowCount).toBe(1);
    await ended(id, "completed");
    expect(await client.responses.retrieve(id)).toEqual(whole);
    expect(chat.provider.counts.chat).toBe(calls);
  });

  it("fails with the provider, and says so", async () => {
    chat.provider.failChat({ status: 400 }, 1);
    const { id } = await client.responses.create({ model: agent, input: "Think", background: true });
    await ended(id, "failed");
    expect((await client.responses.retrieve(id)).error).toMatchObject({ code: "server_error" });
  });

  it("is stopped and deleted by its caller also when its document is out of reach, and tells nothing", async () => {
    const { owner } = chat.database.db;
    const isRunning = async (id: string) =>
      (await owner.query("select status from responses where id = $1", [decodeId("response", id)])).rows[0]
        ?.status;
    chat.provider.reply({ pieces: ["Half", " more"], heldBy: new Promise(() => undefined) });
    const { id } = await client.responses.create({ model: agent, input: "Think", background: true });
    await ended(id, "in_progress");
    await owner.query("update responses set document_ids = array[gen_random_uuid()] where id = $1", [
      decodeId("response", id),
    ]);
    await expect(client.responses.retrieve(id)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    expect(await client.responses.cancel(id)).toMatchObject({ id, status: "cancelled", output: [] });
    expect(await isRunning(id)).toBe("cancelled");
    await expect(client.responses.cancel(id)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    await client.responses.delete(id);
    expect(await isRunning(id)).toBeUndefined();
  });

  it("is the only kind that can be cancelled", async () => {
    const { id } = await client.responses.create({ model: agent, input: "Now" });
    await expect(client.responses.cancel(id)).rejects.toMatchObject({ status: 400 });
  });
});
