/**
 * How much is kept of responses: what has no room is refused before anything is asked, and nothing goes
 * early.
 */
import OpenAI from "openai";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type ChatHarness, startChat } from "../../../support/stack/chat-harness.ts";

let chat: ChatHarness;
let agent = "";
let client: OpenAI;

beforeAll(async () => {
  chat = await startChat({ env: { RESPONSE_BYTES_PER_USER: "60000" } });
  agent = await chat.addAgent();
  client = new OpenAI({ baseURL: `${chat.url}/v1`, apiKey: chat.key, maxRetries: 0 });
});
afterAll(() => chat.close());

it("is bounded for a user, over all keys and however many come at once", async () => {
  const other = new OpenAI({ baseURL: `${chat.url}/v1`, apiKey: await chat.makeKey(), maxRetries: 0 });
  chat.provider.replyAlways(() => ({ pieces: ["Short"] }));
  const input = "x".repeat(20_000);
  const answers = await Promise.allSettled(
    Array.from({ length: 8 }, (_, index) =>
      (index % 2 === 0 ? client : other).responses.create({ model: agent, input }),
    ),
  );
  const made = answers.flatMap((answer) => (answer.status === "fulfilled" ? [answer.value] : []));
  const refused = answers.flatMap((answer) =>
    answer.status === "rejected" ? [answer.reason as unknown] : [],
  );
  expect(made).toHaveLength(2);
  for (const fault of refused) expect(fault).toMatchObject({ status: 429, code: "response_quota_exceeded" });
  expect(chat.provider.counts.chat).toBe(2);

  const passing = await client.responses.create({ model: agent, input, store: false });
  expect(passing.status).toBe("completed");
  const background = client.responses.create({ model: agent, input, background: true });
  await expect(background).rejects.toMatchObject({ status: 429, code: "response_quota_exceeded" });

  const owners = made.map(async ({ id }) => {
    const isOwn = await client.responses.retrieve(id).then(
      () => true,
      () => false,
    );
    return isOwn ? client : other;
  });
  const [owner] = await Promise.all(owners);
  expect(await owner!.responses.retrieve(made[0]!.id)).toEqual(made[0]);
  await owner!.responses.delete(made[0]!.id);
  expect((await client.responses.create({ model: agent, input })).status).toBe("completed");
});
