import { randomBytes } from "node:crypto";
import { createServer, request } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { createGcsStore } from "../../src/storage/stores/gcs.ts";
import type { ObjectStore } from "../../src/storage/object-store.ts";
import { findGo, NO_GO, startFakeGcs } from "../support/servers/fake-gcs.ts";
import type { FakeGcs } from "../support/servers/fake-gcs.ts";
import { newName, read, readResting } from "../support/servers/object-store-promises.ts";
import { unless } from "../support/run/unless.ts";

const go = await findGo();
/** Milliseconds without a byte after which a connection counts as silent. */
const STALL_MS = 400;

async function* pieces(body: Buffer): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < body.byteLength; start += 256 * 1024)
    yield body.subarray(start, start + 256 * 1024);
}

type Fault = { status: number } | { cutAfterBytes: number } | { silentAfterBytes: number } | undefined;

describe("gcs store behind a bad connection", unless(go === undefined ? NO_GO : undefined), () => {
  let emulator: FakeGcs;
  let proxy: Server;
  let store: ObjectStore;
  let faultOf: (req: IncomingMessage) => Fault = () => undefined;

  /**
   * The bytes that the emulator has of each upload session. The emulator ends a session that is asked for its
   * state; Google's service answers 308.
   */
  const received = new Map<string, string>();
  const isStatusQuestion = (req: IncomingMessage): boolean =>
    req.method === "PUT" && (req.headers["content-range"] ?? "").startsWith("bytes */");

  /**
   * Passes requests on to the emulator, except those that {@link faultOf} answers. Addresses of sessions are
   * rewritten to come back here.
   */
  function forward(req: IncomingMessage, res: ServerResponse, origin: string): void {
    const fault = faultOf(req);
    if (fault !== undefined && "status" in fault) {
      req.resume();
      res.writeHead(fault.status, { "content-type": "application/json" }).end("{}");
      return;
    }
    if (isStatusQuestion(req)) {
      req.resume();
      const held = received.get(req.url ?? "");
      res.writeHead(308, held === undefined ? {} : { range: held }).end();
      return;
    }
    const onward = request(
      `${emulator.origin}${req.url}`,
      { method: req.method, headers: { ...req.headers, host: new URL(emulator.origin).host } },
      (answer) => {
        const headers = { ...answer.headers };
        if (headers.location !== undefined)
          headers.location = headers.location.replace(emulator.origin, origin);
        if (answer.statusCode === 308 && headers.range !== undefined)
          received.set(req.url ?? "", headers.range);
        res.writeHead(answer.statusCode ?? 500, headers);
        passOn(answer, res, fault);
      },
    );
    onward.on("error", () => res.destroy());
    req.pipe(onward);
  }

  function passOn(answer: IncomingMessage, res: ServerResponse, fault: Fault): void {
    if (fault === undefined) return void answer.pipe(res);
    let passed = 0;
    const limit =
      "cutAfterBytes" in fault
        ? fault.cutAfterBytes
        : "silentAfterBytes" in fault
          ? fault.silentAfterBytes
          : 0;
    answer.on("data", (piece: Buffer) => {
      if (passed >= limit) return;
      res.write(piece.subarray(0, limit - passed), () => {
        if (passed >= limit && "cutAfterBytes" in fault) res.destroy();
      });
      passed += piece.byteLength;
    });
  }

  beforeAll(async () => {
    emulator = await startFakeGcs(go ?? "");
    proxy = createServer((req, res) =>
      forward(req, res, `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`),
    );
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    store = createGcsStore({
      bucket: emulator.bucket,
      emulatorHost: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/storage/v1`,
      stallMs: STALL_MS,
    });
  }, 310_000);
  afterEach(() => {
    faultOf = () => undefined;
  });
  afterAll(async () => {
    proxy.closeAllConnections();
    await new Promise((resolve) => proxy.close(resolve));
    await emulator.stop();
  });

  /** The fault for the first `times` requests that match. */
  function failFirst(times: number, fault: Fault, matches: (req: IncomingMessage) => boolean): () => number {
    let seen = 0;
    faultOf = (req) => {
      if (!matches(req)) return undefined;
      seen += 1;
      return seen <= times ? fault : undefined;
    };
    return () => seen;
  }

  test("an upload survives a 503 on the session's start and on a piece of it", async () => {
    const body = randomBytes(9 * 1024 * 1024);
    const name = newName();
    const seen = failFirst(1, { status: 503 }, (req) => req.method === "POST");
    await store.put(name, pieces(body), { ifAbsent: true });
    expect(seen()).toBe(2);
    const other = newName();
    let puts = 0;
    failFirst(1, { status: 503 }, (req) => req.method === "PUT" && !isStatusQuestion(req) && ++puts === 2);
    await store.put(other, pieces(body), { ifAbsent: true });
    expect((await read(store, name)).equals(body)).toBe(true);
    expect((await read(store, other)).equals(body)).toBe(true);
  }, 30_000);

  test("a download goes on where its connection was cut", async () => {
    const body = randomBytes(3 * 1024 * 1024);
    const name = newName();
    await store.put(name, pieces(body), { ifAbsent: true });
    const seen = failFirst(3, { cutAfterBytes: 700_001 }, (req) => req.method === "GET");
    expect((await read(store, name)).equals(body)).toBe(true);
    expect(seen()).toBe(4);
  }, 30_000);

  test("a download that falls silent is taken up again", async () => {
    const body = randomBytes(2 * 1024 * 1024);
    const name = newName();
    await store.put(name, pieces(body), { ifAbsent: true });
    failFirst(1, { silentAfterBytes: 500_000 }, (req) => req.method === "GET");
    expect((await read(store, name)).equals(body)).toBe(true);
  }, 30_000);

  test("a slow reader gets every byte, however long it rests", async () => {
    const body = randomBytes(2 * 1024 * 1024);
    const name = newName();
    await store.put(name, pieces(body), { ifAbsent: true });
    expect((await readResting(store, name, 2 * STALL_MS)).equals(body)).toBe(true);
  }, 30_000);

  test.each([503, 429, 403])(
    "an answer of %i that stays is an outage",
    async (status) => {
      faultOf = () => ({ status });
      await expect(store.size(newName())).rejects.toMatchObject({
        code: "storage_unavailable",
        class: "outage",
      });
    },
    70_000,
  );
});
