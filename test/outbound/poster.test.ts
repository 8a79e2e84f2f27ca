/** What a delivery's request does with receivers of every kind. */
import type { LookupAddress } from "node:dns";
import type { ServerResponse } from "node:http";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Poster, createPoster } from "../../src/outbound/poster.ts";
import { type Receiver, startReceiver } from "../support/events/receiver.ts";

let receiver: Receiver;
let poster: Poster;
const names = new Map<string, readonly string[]>();
const resolve = async (host: string): Promise<LookupAddress[]> =>
  (names.get(host) ?? []).map((address) => ({ address, family: 4 }));
const open = (more: Partial<Parameters<typeof createPoster>[0]> = {}): Poster =>
  createPoster({ allowHosts: ["127.0.0.1", "inside.test"], resolve, ...more });
const post = (url = receiver.url, from = poster) =>
  from.post({ owner: "one", url, headers: { "content-type": "application/json" }, body: '{"a":1}' });

beforeEach(async () => {
  receiver = await startReceiver();
  names.clear();
  names.set("inside.test", ["127.0.0.1"]);
  poster = open();
});
afterEach(async () => {
  poster.close();
  await receiver.close();
});

describe("an answer", () => {
  it("of 2xx is a success, and its connection is used again", async () => {
    receiver.answer((response) => response.writeHead(200).end("thanks"));
    expect(await post()).toEqual({ status: 200, failure: null, retryAfterMs: null });
    await post();
    expect(receiver.connections()).toBe(1);
    expect(receiver.received.map(({ body }) => body)).toEqual(['{"a":1}', '{"a":1}']);
  });

  it.each([
    [301, "redirect"],
    [307, "redirect"],
    [404, "status_404"],
    [410, "status_410"],
    [503, "status_503"],
  ])("of %i is the failure %s, and no redirect is followed", async (status, failure) => {
    receiver.answer((response) => response.writeHead(status, { location: receiver.url }).end());
    expect(await post()).toMatchObject({ status, failure });
    expect(receiver.received).toHaveLength(1);
  });

  it("says when to come back, in seconds or by a date", async () => {
    receiver.answer((response) => response.writeHead(429, { "retry-after": "7" }).end());
    expect(await post()).toMatchObject({ retryAfterMs: 7_000 });
    const date = new Date(Date.now() + 3_600_000).toUTCString();
    receiver.answer((response) => response.writeHead(503, { "retry-after": date }).end());
    const { retryAfterMs } = (await post())!;
    expect(retryAfterMs).toBeGreaterThan(3_590_000);
    expect(retryAfterMs).toBeLessThanOrEqual(3_600_000);
    receiver.answer((response) => response.writeHead(503, { "retry-after": "soon" }).end());
    expect(await post()).toMatchObject({ retryAfterMs: null });
  });

  it("of 100 MB is read to 64 KB, and counts by its status", async () => {
    let written = 0;
    receiver.answer((response) => {
      response.writeHead(200);
      const piece = Buffer.alloc(65_536);
      const more = (): void => {
        while (!response.destroyed && written < 100 * 1_048_576) {
          written += piece.byteLength;
          if (!response.write(piece)) {
            response.once("drain", more);
            return;
          }
        }
        response.end();
      };
      more();
    });
    expect(await post()).toMatchObject({ status: 200, failure: null });
    expect(written).toBeLessThan(50 * 1_048_576);
  });

  it("that does not come is a time-out; one that does not end counts by its status", async () => {
    const impatient = open({ timeoutMs: 400 });
    receiver.answer(() => undefined);
    expect(await post(receiver.url, impatient)).toEqual({
      status: null,
      failure: "timeout",
      retryAfterMs: null,
    });
    receiver.answer((response) => response.writeHead(202).write("and then"));
    expect(await post(receiver.url, impatient)).toMatchObject({ status: 202, failure: null });
    impatient.close();
  });

  it.each([
    [
      "switches to another protocol",
      "HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n",
      1,
    ],
    ["is put off without end", "HTTP/1.1 103 Early Hints\r\n\r\n", 100],
  ])("that %s fails before the time is over", async (_, text, times) => {
    receiver.answer(({ socket }) => socket?.write(text.repeat(times)));
    expect(await post()).toEqual({ status: null, failure: "unreachable", retryAfterMs: null });
  });

  it("is asked for once more if the connection that was kept had been closed", async () => {
    receiver.answer((response) => response.writeHead(204).end());
    await post();
    receiver.answer((response, { headers }) => {
      if (receiver.received.length === 2) response.socket?.destroy();
      else response.writeHead(204).end(String(headers["content-type"]));
    });
    expect(await post()).toMatchObject({ status: 204 });
    receiver.answer((response) => response.socket?.destroy());
    expect(await post()).toMatchObject({ status: null, failure: "unreachable" });
  });
});

describe("a target", () => {
  it.each([
    ["http://public.test/", "not_https"],
    ["ftp://inside.test/", "not_https"],
    ["https://user:secret@public.test/", "credentials"],
    ["https://10.0.0.7/", "private_target"],
    ["https://[::1]/", "private_target"],
    ["https://[::ffff:169.254.169.254]/", "private_target"],
    ["https://[::127.0.0.1]/", "private_target"],
    ["https://[64:ff9b::10.0.0.7]/", "private_target"],
    ["https://167772167/", "private_target"],
    ["https://private.test/", "private_target"],
    ["https://both.test/", "private_target"],
    ["https://nowhere.test/", "private_target"],
  ])("%s is refused as %s", async (url, failure) => {
    names.set("private.test", ["10.0.0.7"]);
    names.set("both.test", ["93.184.215.14", "127.0.0.1"]);
    expect(await post(url)).toEqual({ status: null, failure, retryAfterMs: null });
    expect(receiver.received).toEqual([]);
  });

  it("that the operator allows may be private, by its name too", async () => {
    expect(await post(`http://inside.test:${receiver.port}/`)).toMatchObject({ status: 204 });
  });

  it("is judged at each new connection", async () => {
    const strict = open({ allowHosts: [], isPublic: (address) => address === "127.0.0.1" });
    names.set("public.test", ["127.0.0.1"]);
    // The receiver speaks no TLS: the connection was made, and is not at a refused address.
    const url = `https://public.test:${receiver.port}/`;
    expect(await post(url, strict)).toMatchObject({ failure: expect.not.stringContaining("private") });
    names.set("public.test", ["10.0.0.7"]);
    expect(await post(url, strict)).toMatchObject({ failure: "private_target" });
    strict.close();
  });
});

it("at most as many attempts as its bound go at once", async () => {
  const narrow = open({ atOnce: 2 });
  let waiting: ServerResponse[] = [];
  let most = 0;
  // Answers when two wait: with fewer at once the test would hang.
  receiver.answer((response) => {
    waiting.push(response);
    most = Math.max(most, waiting.length);
    if (waiting.length < 2) return;
    for (const one of waiting) one.writeHead(204).end();
    waiting = [];
  });
  await Promise.all(Array.from({ length: 10 }, () => post(receiver.url, narrow)));
  expect([receiver.received.length, most]).toEqual([10, 2]);
  narrow.close();
});
