/** How those who wait for events are woken, with positions that the test sets. */
import { afterEach, expect, test, vi } from "vitest";
import { createEventHub, type EventHub } from "../../../src/api/events/hub.ts";

const ORGANIZATION = "01900000-0000-7000-8000-000000000001";
const never = { timeoutMs: 60_000, signal: new AbortController().signal };

interface Heard {
  onEvents: (organizationId: string) => void;
  onConnected: () => void;
}

let hub: EventHub;
let heard: Heard;
const onFailure = vi.fn<(error: unknown) => void>();
const readLast = vi.fn<(ids: readonly string[]) => Promise<ReadonlyMap<string, number>>>();

/** A hub that finds the log at `last`, and looks by itself only if the test says so. */
function start(last: number, lookEveryMs = 60_000): void {
  readLast.mockReset().mockImplementation(async () => new Map([[ORGANIZATION, last]]));
  onFailure.mockReset();
  hub = createEventHub({
    readLast,
    listen(listener) {
      heard = listener;
      return async () => undefined;
    },
    lookEveryMs,
    onFailure,
  });
}
const setLast = (last: number) => readLast.mockImplementation(async () => new Map([[ORGANIZATION, last]]));
/** Resolves when the hub has looked as often as that. */
const looked = (times: number) => vi.waitFor(() => expect(readLast).toHaveBeenCalledTimes(times));

afterEach(() => hub.close());

test("says at once what was placed before the wait began", async () => {
  start(5);
  expect(await hub.later(ORGANIZATION, 4, never)).toBe(5);
});

test("one look wakes everybody who waits, and nobody before there is something new", async () => {
  start(5);
  const waits = [hub.later(ORGANIZATION, 5, never), hub.later(ORGANIZATION, 5, never)];
  await looked(1);
  setLast(7);
  heard.onEvents(ORGANIZATION);

  expect(await Promise.all(waits)).toEqual([7, 7]);
  expect(readLast).toHaveBeenCalledTimes(2);
});

test("asks nothing about organizations for which nobody waits", async () => {
  start(5);
  heard.onEvents(ORGANIZATION);
  heard.onConnected();
  await hub.close();

  expect(readLast).not.toHaveBeenCalled();
});

test("asks nothing any more about an organization whose last wait has ended", async () => {
  start(5);
  await hub.later(ORGANIZATION, 4, never);
  heard.onEvents(ORGANIZATION);
  await hub.close();

  expect(readLast).toHaveBeenCalledTimes(1);
});

test.each([
  ["by itself if a notification is lost", 20, () => undefined],
  ["again after the connection was lost", 60_000, () => heard.onConnected()],
])("looks %s", async (_what, lookEveryMs, reconnect) => {
  start(5, lookEveryMs);
  const waiting = hub.later(ORGANIZATION, 5, never);
  await looked(1);
  setLast(6);
  reconnect();

  expect(await waiting).toBe(6);
});

test("goes on while the database is away, and tells it once", async () => {
  start(5, 10);
  readLast.mockImplementation(() => Promise.reject(new Error("away")));
  const waiting = hub.later(ORGANIZATION, 5, never);
  await vi.waitFor(() => expect(readLast.mock.calls.length).toBeGreaterThan(3));
  setLast(6);

  expect(await waiting).toBe(6);
  expect(onFailure).toHaveBeenCalledTimes(1);
});

test("ends waits when the time is over, the client leaves, or the process stops", async () => {
  start(5);
  const left = new AbortController();
  const leaving = hub.later(ORGANIZATION, 5, { ...never, signal: left.signal });
  const stopped = hub.later(ORGANIZATION, 5, never);
  expect(await hub.later(ORGANIZATION, 5, { ...never, timeoutMs: 1 })).toBeUndefined();
  left.abort();
  expect(await leaving).toBeUndefined();
  hub.drain();
  expect(await stopped).toBeUndefined();
  expect(await hub.later(ORGANIZATION, 0, never)).toBeUndefined();
});
