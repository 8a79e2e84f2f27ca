/**
 * The memory that an upload takes which is larger than memory should be, into a sink slower than its client.
 */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { receiveUpload } from "../../src/api/body/uploads.ts";

const MEGABYTE = 1024 * 1024;

test("a slow sink slows its client, with constant memory", async () => {
  let taken = 0;
  let size = 0;
  const server = createServer((req, res) => {
    void receiveUpload(req, {
      maxBytes: 1e9,
      onFile: async ({ stream }) => {
        for await (const piece of stream) {
          taken += (piece as Buffer).byteLength;
          if (taken < 4_000_000) await sleep(5);
        }
      },
    }).then((received) => {
      size = received.file?.size ?? 0;
      res.end();
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const block = randomBytes(MEGABYTE);
  let made = 0;
  let ahead = 0;
  async function* form(): AsyncGenerator<Buffer> {
    yield Buffer.from('--b\r\nContent-Disposition: form-data; name="file"; filename="big.bin"\r\n\r\n');
    for (let index = 0; index < 300; index += 1) {
      made += MEGABYTE;
      ahead = Math.max(ahead, made - taken);
      yield block;
    }
    yield Buffer.from("\r\n--b--\r\n");
  }
  const before = process.memoryUsage.rss();
  let peak = before;
  const watch = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss());
  }, 10);
  const sent = request(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, {
    method: "POST",
    headers: { "content-type": "multipart/form-data; boundary=b" },
  });
  const answered = once(sent, "response");
  Readable.from(form(), { objectMode: false }).pipe(sent);
  const [answer] = await answered;
  answer.resume();
  clearInterval(watch);
  server.close();
  expect([size, taken]).toEqual([300 * MEGABYTE, 300 * MEGABYTE]);
  expect(ahead).toBeLessThan(20_000_000);
  expect((peak - before) / MEGABYTE).toBeLessThan(150);
}, 30_000);
