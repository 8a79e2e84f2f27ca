import { afterAll, beforeAll, expect, test } from "vitest";
import { stream } from "../../src/api/response.ts";
import { defineRoute } from "../../src/api/route.ts";
import { type EventStream, openEventStream } from "../../src/api/sse.ts";
import { startTinyApp, type TinyApp } from "../support/app/tiny-app.ts";

let play: (events: EventStream) => Promise<void>;
const route = defineRoute("GET /events", {
  access: "public",
  status: 200,
  summary: "A test.",
  handle: async () => stream((res) => play(openEventStream(res, { pingMs: 20, headers: { "X-Turn": "1" } }))),
});

let app: TinyApp;
beforeAll(async () => {
  app = await startTinyApp([route]);
});
afterAll(() => app.close());
const open = (init: RequestInit = {}): Promise<Response> => fetch(`${app.url}/v1/events`, init);

test("events have ids and data, and the head forbids buffering", async () => {
  play = async (events) => {
    await events.send('{"a":1}', "7");
    await events.send("two\nlines");
    events.comment("a comment");
    events.end();
  };
  const response = await open();
  expect(await response.text()).toBe('id: 7\ndata: {"a":1}\n\ndata: two\ndata: lines\n\n: a comment\n\n');
  expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
  expect(response.headers.get("x-accel-buffering")).toBe("no");
  expect(response.headers.get("x-turn")).toBe("1");
  expect(response.headers.get("x-request-id")).toBeTruthy();
});

test("the head is sent before the first event, and pings while nothing is sent", async () => {
  let finish = (): void => {};
  play = async (events) => {
    await new Promise<void>((resolve) => (finish = resolve));
    events.end();
  };
  const response = await open();
  const reader = response.body!.getReader();
  expect(new TextDecoder().decode((await reader.read()).value)).toBe(": ping\n\n");
  finish();
  await reader.cancel();
});

test("a client that goes away aborts the stream; sending then resolves to false", async () => {
  let ended: Promise<boolean> | undefined;
  play = async (events) => {
    ended = new Promise((resolve) =>
      events.closed.addEventListener("abort", () => void events.send("late").then(resolve)),
    );
    await events.send("first");
  };
  const stop = new AbortController();
  const response = await open({ signal: stop.signal });
  await response.body!.getReader().read();
  stop.abort();
  expect(await ended).toBe(false);
});

test("a client that does not read slows the sender", async () => {
  let sent = 0;
  let heldBack = false;
  play = async (events) => {
    while (await events.send("x".repeat(65_536))) sent += 1;
  };
  const stop = new AbortController();
  await open({ signal: stop.signal });
  let before = -1;
  await expect
    .poll(
      () => {
        heldBack = sent > 0 && sent === before;
        before = sent;
        return heldBack;
      },
      { interval: 200, timeout: 10_000 },
    )
    .toBe(true);
  expect(sent).toBeLessThan(1_000);
  stop.abort();
});

test("a stream that fails is cut, and its cause is logged", async () => {
  play = async (events) => {
    await events.send("first");
    throw new Error("the pipe burst");
  };
  await expect(open().then((response) => response.text())).rejects.toThrow(/terminated|fetch failed/);
  expect(app.logged.join("")).toMatch(/a streamed answer failed/);
  expect(app.logged.join("")).toMatch(/at play \(.*sse\.test\.ts/);
});
