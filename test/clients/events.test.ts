/** Tests the client's iterator over events against a log whose connections break. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { type EventsOptions, createHoldfast } from "../../clients/typescript/src/index.ts";
import { readStream } from "../../clients/typescript/src/events/read-stream.ts";
import { type EventLog, startEventLog } from "../support/clients/event-log.ts";
import { until } from "../support/until.ts";

let log: EventLog;

beforeEach(async () => {
  log = await startEventLog();
});
afterEach(() => log.close());

const events = (options: EventsOptions = {}) =>
  createHoldfast({ baseUrl: log.url, credential: "sk-test" }).events(options);

/** Takes so many events, and ends the iteration. */
async function take(count: number, options: EventsOptions = {}): Promise<number[]> {
  const taken: number[] = [];
  for await (const { event } of events(options)) {
    taken.push(Number(event.id));
    if (taken.length === count) break;
  }
  return taken;
}
const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1);

test("connections that break in the middle of an event lose none and repeat none", async () => {
  log.append(12);
  log.cutNext(5, 0, 4);
  expect(await take(12, { after: "c0" })).toEqual(upTo(12));
});

test("what happens while the first connection is broken is not lost, though it brought no event", async () => {
  log.append(3);
  log.cutNext(0);
  const taking = take(4);
  await until("the stream is open", () => log.openStreams() === 1);
  log.append(1);
  await until("the stream is cut", () => log.openStreams() === 0);
  log.append(3);
  expect(await taking).toEqual([4, 5, 6, 7]);
});

test("each event comes with the cursor to go on after it", async () => {
  log.append(3);
  const first = await events({ after: "c0" }).next();
  expect(first.value).toMatchObject({ cursor: "c1", event: { id: 1 } });
  expect(await take(2, { after: first.value!.cursor })).toEqual([2, 3]);
});

test("long polls give each event once too", async () => {
  const taking = take(150, { after: "c0", transport: "poll" });
  log.append(120);
  await until("the rest is asked for", () => log.asked.some(({ url }) => url.includes("after=c120")));
  log.append(30);
  expect(await taking).toEqual(upTo(150));
  expect(log.asked.every(({ url }) => url.includes("wait="))).toBe(true);
});

test("a service that asks to wait is asked again no sooner", async () => {
  log.append(1);
  log.refuseNext({ status: 503, headers: { "retry-after": "1" }, body: { detail: "busy" } });
  expect(await take(1, { after: "c0" })).toEqual([1]);
  expect(log.asked[1]!.at - log.asked[0]!.at).toBeGreaterThanOrEqual(990);
});

test("a refusal ends the iteration with its status and code", async () => {
  log.refuseNext({
    status: 410,
    body: { detail: "Not kept any more", code: "cursor_expired", oldest: "c9" },
  });
  await expect(events({ after: "c1" }).next()).rejects.toMatchObject({
    name: "HoldfastError",
    status: 410,
    code: "cursor_expired",
    answer: { oldest: "c9" },
  });
  log.refuseNext({ status: 401, body: { detail: "Invalid API key" } });
  await expect(events({ after: "c1" }).next()).rejects.toMatchObject({ status: 401 });
});

test("the signal ends a wait with its reason, and its connection", async () => {
  const given = new AbortController();
  const waiting = events({ signal: given.signal }).next();
  await until("the stream is open", () => log.openStreams() === 1);
  given.abort(new Error("enough"));
  await expect(waiting).rejects.toThrow("enough");
  await until("the connection is closed", () => log.openStreams() === 0);
});

test("leaving the loop closes the connection", async () => {
  log.append(2);
  expect(await take(1, { after: "c0" })).toEqual([1]);
  await until("the connection is closed", () => log.openStreams() === 0);
});

test("a slow loop slows down the sender", async () => {
  const total = 4_000;
  log.append(total, "x".repeat(10_000));
  const iterator = events({ after: "c0" });
  await iterator.next();
  await until("the sender waits for its reader", () => log.isStalled());
  expect(log.sent()).toBeLessThan(total / 2);
  await iterator.return();
});

test("a stream that is silent for longer than pings allow has ended", async () => {
  const silent = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode("data: one\n\n")),
  });
  const messages = readStream(silent, { silenceMs: 50 });
  expect((await messages.next()).value).toMatchObject({ data: "one" });
  expect((await messages.next()).done).toBe(true);
});
