/** A repeat of an Idempotency-Key while the first request with it is still read. */
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished } from "vitest";
import { type ChatHarness, startChat } from "../../../support/stack/chat-harness.ts";

let chat: ChatHarness;

beforeAll(async () => {
  chat = await startChat();
});
afterAll(() => chat.close());
beforeEach(() => chat.provider.reset());

const NOBODY = "00000000-0000-0000-0000-000000000000";
const ask = (body: object, key: string) =>
  fetch(`${chat.url}/v1/responses`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${chat.key}`,
      "content-type": "application/json",
      "idempotency-key": key,
    },
    body: JSON.stringify({ input: "Once", ...body }),
  });
/** Sends a request that gets no further than to its agent, and returns when its key is taken. */
const holdFirst = async (body: object, key: string) => {
  const { owner } = chat.database.db;
  const holder = await owner.connect();
  await holder.query("begin; lock table agents in access exclusive mode");
  const first = ask(body, key);
  const isTaken = "select from kept_turns where key = $1";
  await expect.poll(async () => (await owner.query(isTaken, [`responses\n${key}`])).rowCount).toBe(1);
  let isHeld = true;
  const release = async () => {
    if (!isHeld) return;
    isHeld = false;
    await holder.query("rollback");
    holder.release();
  };
  onTestFinished(release);
  return { first, release };
};
/** Only time shows that no answer comes. */
const endsWithin = (answer: Promise<unknown>, ms: number) =>
  Promise.race([answer.then(() => true), sleep(ms, false)]);

it.each([
  { stream: false, repeated: (text: string) => text },
  { stream: true, repeated: () => expect.stringContaining("response.completed") },
])("waits for that one, and asks nobody a second time (stream: $stream)", async ({ stream, repeated }) => {
  const body = { model: await chat.addAgent(), stream };
  const { first, release } = await holdFirst(body, `slow ${stream}`);
  const second = ask(body, `slow ${stream}`);
  expect(await endsWithin(second, 1_500)).toBe(false);
  await release();
  const answers = await Promise.all([first, second]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  const texts = await Promise.all(answers.map((answer) => answer.text()));
  expect(texts[1]).toEqual(repeated(texts[0]!));
  expect(chat.provider.requests.filter(({ route }) => route === "chat")).toHaveLength(1);
});

it("is told as soon as that one is refused before anything is kept", async () => {
  const body = { model: await chat.addAgent(), previous_response_id: `resp_${"0".repeat(32)}` };
  const { first, release } = await holdFirst(body, "soon refused");
  const second = ask(body, "soon refused");
  expect(await endsWithin(second, 1_000)).toBe(false);
  await release();
  expect((await first).status).toBe(404);
  const refusal = await second;
  expect(refusal.status).toBe(409);
  expect(await refusal.json()).toMatchObject({ error: { code: "turn_lost" } });
});

it("is told while that one is held if its process is gone", async () => {
  const body = { model: await chat.addAgent() };
  const { first, release } = await holdFirst(body, "soon lost");
  await chat.database.db.owner.query("update kept_turns set api_process_id = $1 where key = $2", [
    NOBODY,
    "responses\nsoon lost",
  ]);
  expect((await ask(body, "soon lost")).status).toBe(409);
  await release();
  expect((await first).status).toBe(200);
});

it("is told that nothing is kept once a response that is not to be kept has ended", async () => {
  const body = { model: await chat.addAgent(), store: false };
  const { first, release } = await holdFirst(body, "kept nowhere");
  const second = ask(body, "kept nowhere");
  expect(await endsWithin(second, 1_000)).toBe(false);
  await release();
  expect((await first).status).toBe(200);
  expect((await second).status).toBe(409);
});
