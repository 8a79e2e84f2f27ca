/** The store over S3, if its connection or the store itself fails during an operation. */
import { randomBytes } from "node:crypto";
import {
  AbortMultipartUploadCommand,
  CreateMultipartUploadCommand,
  ListMultipartUploadsCommand,
  S3Client,
} from "@aws-sdk/client-s3";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { ObjectStore } from "../../src/storage/object-store.ts";
import { createS3Store } from "../../src/storage/stores/s3.ts";
import {
  type Asked,
  type FaultyConnection,
  startFaultyConnection,
} from "../support/servers/faulty-connection.ts";
import { newName, pieces, read, readResting } from "../support/servers/object-store-promises.ts";
import { missingSeaweedfs, sharedSeaweedfs } from "../support/servers/seaweedfs.ts";
import { unless } from "../support/run/unless.ts";

const STALL_MS = 400;
/** Milliseconds; longer than a part takes on a busy machine. */
const REQUEST_MS = 2_000;
/** A body of two parts. */
const LARGE = 9 * 1024 * 1024;

const isPart = ({ method, url }: Asked): boolean => method === "PUT" && url.includes("partNumber=");
const isWhole = ({ method, url }: Asked): boolean => method === "PUT" && !url.includes("partNumber=");
const isComplete = ({ method, url }: Asked): boolean => method === "POST" && url.includes("uploadId=");
const isAbort = ({ method, url }: Asked): boolean => method === "DELETE" && url.includes("uploadId=");
const isRead = ({ method }: Asked): boolean => method === "GET";
const anything = (): boolean => true;

describe("s3 store behind a bad connection", unless(missingSeaweedfs), () => {
  let connection: FaultyConnection;
  let store: ObjectStore;
  let client: S3Client;
  let Bucket: string;

  beforeAll(async () => {
    const { bucket, endpoint } = await sharedSeaweedfs();
    Bucket = bucket;
    connection = await startFaultyConnection(endpoint);
    client = new S3Client({ endpoint, region: "us-east-1", forcePathStyle: true });
    store = createS3Store({ bucket, endpoint: connection.origin, forcePathStyle: true, stallMs: STALL_MS });
    await store.prove!();
  });
  afterEach(() => connection.heal());
  afterAll(async () => {
    client.destroy();
    await connection.close();
  });

  const unfinished = async (): Promise<string[]> =>
    ((await client.send(new ListMultipartUploadsCommand({ Bucket }))).Uploads ?? []).map(({ Key }) => Key!);
  const expectGone = async (name: string): Promise<void> => {
    await expect(store.size(name)).rejects.toMatchObject({ code: "not_found" });
    expect(await unfinished()).not.toContain(name);
  };

  test.each([
    ["a part was answered with 503", { status: 503 }, isPart],
    ["the connection was cut in the middle of a part", { cutRequestAfterBytes: 1_000_000 }, isPart],
    ["a part's answer was lost", "lose the answer", isPart],
    ["the answer to the end of the upload was lost", "lose the answer", isComplete],
    [
      "the end of the upload failed inside of a 200",
      { status: 200, body: "<Error><Code>InternalError</Code><Message>try again</Message></Error>" },
      isComplete,
    ],
  ] as const)("an upload in parts is whole where %s", async (_what, fault, matches) => {
    const [name, body] = [newName(), randomBytes(LARGE)];
    const seen = connection.failFirst(1, fault, matches);
    expect(await store.put(name, pieces(body), { ifAbsent: true })).toEqual({ bytes: LARGE });
    expect(seen()).toBeGreaterThan(1);
    connection.heal();
    expect((await read(store, name)).equals(body)).toBe(true);
    expect(await unfinished()).not.toContain(name);
  });

  test.each([
    ["503 SlowDown", { status: 503, body: "<Error><Code>SlowDown</Code></Error>" }],
    ["500", { status: 500 }],
    ["nothing, since the answer was lost", "lose the answer"],
    ["nothing, since the connection was cut", { cutRequestAfterBytes: 0 }],
  ] as const)(
    "a small object is written once where its write was first answered with %s",
    async (_what, fault) => {
      const name = newName();
      connection.failFirst(1, fault, isWhole);
      await store.put(name, pieces(Buffer.from("once")), { ifAbsent: true });
      expect((await read(store, name)).toString()).toBe("once");
      await expect(store.put(name, pieces(Buffer.from("twice")), { ifAbsent: true })).rejects.toMatchObject({
        code: "conflict",
      });
    },
  );

  test.each([
    ["small", 1_000, isWhole],
    ["in parts", LARGE, isPart],
  ] as const)("nothing is kept of a body, %s, that was damaged on its way", async (_kind, bytes, matches) => {
    const name = newName();
    connection.failFirst(Infinity, "damage", matches);
    await expect(store.put(name, pieces(randomBytes(bytes)), { ifAbsent: true })).rejects.toMatchObject({
      code: "storage_unavailable",
    });
    await expectGone(name);
  });

  test("a write without an answer is sent again", async () => {
    const { bucket, endpoint } = await sharedSeaweedfs();
    const silent = await startFaultyConnection(endpoint);
    const impatient = createS3Store({
      bucket,
      endpoint: silent.origin,
      forcePathStyle: true,
      requestTimeoutMs: REQUEST_MS,
    });
    await impatient.prove!();
    const seen = silent.failFirst(1, { silentAfterBytes: 0 }, isWhole);
    const name = newName();
    await impatient.put(name, pieces(Buffer.from("once")), { ifAbsent: true });
    expect(seen()).toBe(2);
    expect((await read(store, name)).toString()).toBe("once");
    await silent.close();
  });

  test("of several writes that create the same object one succeeds, the others are conflicts", async () => {
    const [name, bodies] = [newName(), Array.from({ length: 4 }, () => randomBytes(1_000))];
    const puts = await Promise.allSettled(
      bodies.map((body) => store.put(name, pieces(body), { ifAbsent: true })),
    );
    const winner = puts.findIndex(({ status }) => status === "fulfilled");
    const lost = { status: "rejected", reason: expect.objectContaining({ code: "conflict" }) };
    expect(puts.filter(({ status }) => status === "rejected")).toEqual([lost, lost, lost]);
    expect((await read(store, name)).equals(bodies[winner]!)).toBe(true);
  });

  // One after the other: SeaweedFS lets two that end at the same instant both succeed (decision 0027).
  test("an upload in parts over an object that came meanwhile is a conflict without parts", async () => {
    const name = newName();
    async function* overtaken(): AsyncGenerator<Uint8Array> {
      yield randomBytes(LARGE);
      await store.put(name, pieces(Buffer.from("first")), { ifAbsent: true });
    }
    await expect(store.put(name, overtaken(), { ifAbsent: true })).rejects.toMatchObject({
      code: "conflict",
    });
    expect((await read(store, name)).toString()).toBe("first");
    expect(await unfinished()).not.toContain(name);
  });

  test("a body that fails in its second part leaves no parts behind", async () => {
    const name = newName();
    async function* failing(): AsyncGenerator<Uint8Array> {
      yield randomBytes(LARGE);
      throw new RangeError("the body's own error");
    }
    await expect(store.put(name, failing(), { ifAbsent: true })).rejects.toThrow(RangeError);
    await expectGone(name);
  });

  test("a part that cannot be sent ends the upload, though its body is silent", async () => {
    const name = newName();
    async function* silent(): AsyncGenerator<Uint8Array> {
      yield randomBytes(LARGE);
      await new Promise(() => {});
    }
    connection.failFirst(Infinity, { status: 403 }, isPart);
    await expect(store.put(name, silent(), { ifAbsent: true })).rejects.toMatchObject({
      code: "storage_unavailable",
    });
    connection.heal();
    await expectGone(name);
  });

  test("what an upload could not take back is swept later, and nothing else", async () => {
    const name = newName();
    connection.failFirst(Infinity, { status: 403 }, (asked) => isComplete(asked) || isAbort(asked));
    await expect(store.put(name, pieces(randomBytes(LARGE)), { ifAbsent: true })).rejects.toMatchObject({
      code: "storage_unavailable",
    });
    connection.heal();
    const foreign = await client.send(new CreateMultipartUploadCommand({ Bucket, Key: "somebody/elses" }));
    expect(await store.removeUnfinished(60_000)).toBe(0);
    expect(await unfinished()).toEqual(expect.arrayContaining([name, "somebody/elses"]));
    expect(await store.removeUnfinished(-60_000)).toBe(1);
    expect(await unfinished()).toEqual(["somebody/elses"]);
    await client.send(
      new AbortMultipartUploadCommand({ Bucket, Key: "somebody/elses", UploadId: foreign.UploadId }),
    );
  });

  test.each([
    ["was cut three times", 3, { cutAfterBytes: 700_001 }],
    ["fell silent", 1, { silentAfterBytes: 500_000 }],
    ["was refused at first", 1, { status: 500 }],
  ] as const)("a download that %s has every byte", async (_what, times, fault) => {
    const [name, body] = [newName(), randomBytes(3 * 1024 * 1024)];
    await store.put(name, pieces(body), { ifAbsent: true });
    const seen = connection.failFirst(times, fault, isRead);
    expect((await read(store, name)).equals(body)).toBe(true);
    expect(seen()).toBe(times + 1);
  });

  test("a slow reader gets every byte, however long it rests", async () => {
    const [name, body] = [newName(), randomBytes(2 * 1024 * 1024)];
    await store.put(name, pieces(body), { ifAbsent: true });
    expect((await readResting(store, name, 2 * STALL_MS)).equals(body)).toBe(true);
  });

  test("an object that was replaced while it is read is not mixed with the new one", async () => {
    const name = newName();
    await store.put(name, pieces(randomBytes(3 * 1024 * 1024)), { ifAbsent: true });
    connection.failFirst(1, { silentAfterBytes: 300_000 }, isRead);
    const stream = await store.get(name);
    await store.put(name, pieces(Buffer.from("another")));
    await expect(stream.toArray()).rejects.toMatchObject({ code: "storage_unavailable" });
  });

  test.each([
    ["503 with Retry-After", { status: 503, headers: { "retry-after": "1" } }, 1],
    ["403", { status: 403 }, 5],
    ["a missing bucket", { status: 404, body: "<Error><Code>NoSuchBucket</Code></Error>" }, 5],
  ] as const)("%s that stays is an outage for whatever is asked", async (_what, fault, retryAfterSeconds) => {
    connection.failFirst(Infinity, fault, anything);
    const outage = { code: "storage_unavailable", class: "outage" };
    const name = newName();
    const asked = [
      store.size(name),
      store.get(name),
      store.delete(name),
      store.list("", { limit: 1 }),
      store.put(name, pieces(Buffer.from("x")), { ifAbsent: true }),
    ];
    const answers = await Promise.allSettled(asked);
    expect(answers.map((answer) => (answer as PromiseRejectedResult).reason)).toEqual(
      asked.map(() => expect.objectContaining(outage)),
    );
    expect((answers[3] as PromiseRejectedResult).reason).toMatchObject({ retryAfterSeconds });
  });
});
