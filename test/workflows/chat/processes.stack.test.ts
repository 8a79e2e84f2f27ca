import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { freePort } from "../../../src/embedded/ports.ts";
import { type TestProcess, startProcess } from "../../support/stack/processes.ts";
import { onKillableStack } from "../../support/stack/shared-stack.ts";
import { until } from "../../support/until.ts";

const PIECES = Array.from({ length: 40 }, (_, index) => `piece${index} `);
const IDS = [0, ...PIECES.map((_, index) => index + 1), PIECES.length + 2];

const { stack, tenants } = onKillableStack({ withoutWorker: true });
let second: TestProcess;
let urls: readonly [string, string];

beforeAll(async () => {
  const port = await freePort();
  second = startProcess("src/api/main.ts", { ...stack.env, PORT: String(port) });
  urls = [stack.url, `http://127.0.0.1:${port}`];
  for (const url of urls)
    await until(`chat is ready at ${url}`, async () => (await ask(url, randomUUID())).status === 200);
});
afterAll(async () => {
  await second.kill("SIGTERM");
});
beforeEach(() => {
  stack.provider.replyAlways();
  stack.provider.requests.length = 0;
});

const ask = (url: string, key: string, more: { lastEventId?: number; signal?: AbortSignal } = {}) =>
  fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${tenants.keys.owner}`,
      "content-type": "application/json",
      "idempotency-key": key,
      ...(more.lastEventId === undefined ? {} : { "last-event-id": String(more.lastEventId) }),
    },
    body: JSON.stringify({
      model: tenants.agents.public,
      messages: [{ role: "user", content: "Hello there" }],
      stream: true,
    }),
    ...(more.signal ? { signal: more.signal } : {}),
  });
const calls = () => stack.provider.requests.filter((request) => request.route === "chat").length;

function read(text: string) {
  const events = text.split("\n\n").filter((event) => event.includes("data: {"));
  const parsed = events.map((event) => ({
    id: Number(/^id: (\d+)$/m.exec(event)?.[1]),
    data: JSON.parse(/^data: (.*)$/m.exec(event)![1]!),
  }));
  return {
    ids: parsed.map(({ id }) => id),
    text: parsed.map(({ data }) => data.choices?.[0]?.delta.content ?? "").join(""),
    isWhole: text.endsWith("data: [DONE]\n\n"),
  };
}

/**
 * Reads a stream until `isEnough`, then disconnects. Returns what came, cut after the last complete event.
 */
async function leaveWhen(url: string, key: string, isEnough: (text: string) => boolean) {
  const leave = new AbortController();
  const response = await ask(url, key, { signal: leave.signal });
  let text = "";
  for await (const part of response.body!.pipeThrough(new TextDecoderStream())) {
    text += part;
    if (isEnough(text)) break;
  }
  leave.abort();
  return read(text.slice(0, text.lastIndexOf("\n\n") + 2));
}

describe("a turn with an Idempotency-Key that another API process runs", () => {
  it("resumes after Last-Event-ID or from the start, with every piece once and one model call", async () => {
    stack.provider.replyAlways({ pieces: PIECES, delayMsBetweenPieces: 40 });
    const key = randomUUID();
    const before = await leaveWhen(urls[0], key, (text) => text.includes("piece5 "));
    const [behind, whole] = await Promise.all([
      ask(urls[1], key, { lastEventId: before.ids.at(-1)! }).then(async (response) =>
        read(await response.text()),
      ),
      ask(urls[1], key).then(async (response) => read(await response.text())),
    ]);
    expect([...before.ids, ...behind.ids]).toEqual(IDS);
    expect(before.text + behind.text).toBe(PIECES.join(""));
    expect(behind.isWhole).toBe(true);
    expect(whole).toEqual({ ids: IDS, text: PIECES.join(""), isWhole: true });
    expect(calls()).toBe(1);
  });

  it("is answered after its end, and starts only once if both are asked at the same moment", async () => {
    const key = randomUUID();
    const bodies = await Promise.all(
      [urls[0], urls[1], urls[1]].map(async (url) => (await ask(url, key)).text()),
    );
    expect(new Set(bodies.map((text) => read(text).text))).toEqual(new Set(["You said: Hello there"]));
    expect(new Set(await Promise.all(urls.map(async (url) => (await ask(url, key)).text())))).toEqual(
      new Set([bodies[0]]),
    );
    expect(calls()).toBe(1);
  });

  it("is 409 turn_lost once that process was killed: never a second payment in silence", async () => {
    stack.provider.replyAlways({ pieces: ["one ", "two "], after: 1, breakWith: "hang" });
    const key = randomUUID();
    const open = ask(urls[0], key).then((response) => response.text());
    open.catch(() => undefined);
    await until("the provider is asked", () => calls() === 1);
    await stack.api.kill("SIGKILL");
    await expect(open).rejects.toThrow(/terminated|fetch failed/);
    const refused = await until("the process counts as dead", async () => {
      const response = await ask(urls[1], key, { signal: AbortSignal.timeout(1_000) });
      return response.status === 409 && response;
    });
    expect(await refused.json()).toMatchObject({
      detail: expect.stringContaining("send a new Idempotency-Key to start again"),
    });
    expect(calls()).toBe(1);
  });
});
