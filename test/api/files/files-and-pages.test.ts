/** Pages and files of requests in one process: they share its temporary folder, wait for seats, and heal. */
import { randomBytes, randomUUID } from "node:crypto";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createFileSeats, type FileSeats } from "../../../src/api/files/file-seats.ts";
import { createPageHost, type PageHost } from "../../../src/api/pages/page-host.ts";
import { createFileReader, type FileReader } from "../../../src/api/openai/responses/files.ts";
import { type TemporaryFolder, openTemporaryFolder } from "../../../src/process/temporary-folder.ts";
import type { Principal } from "../../../src/domain/tenancy/principal.ts";
import type { WrappedKey } from "../../../src/domain/tenancy/wrapped-keys.ts";
import { createKeyring, localMasterKey } from "../../../src/storage/keys/keyring.ts";
import type { Storage, StoreGet } from "../../../src/storage/storage.ts";
import { notFound } from "../../../src/domain/not-found.ts";
import { makeDrawnPdf, see } from "../../support/files/pages.ts";
import { until } from "../../support/until.ts";

const organizationId = randomUUID();
const rows: WrappedKey[] = [];
const keyring = createKeyring({
  master: localMasterKey(randomBytes(32)),
  load: async () => [...rows],
  create: async (_id, key) => {
    rows.push({ ...key, isCurrent: true });
  },
});

/** Above the 256 KB up to which a parser process gets a file by a message. */
const LARGE = 300_000;
const red = makeDrawnPdf([{ content: "1 0 0 rg 0 0 200 100 re f", entries: "/MediaBox [0 0 200 200]" }]);
const page = Buffer.concat([red, Buffer.alloc(LARGE, " ")]);
const word = Buffer.from("word ".repeat(LARGE / 5)).toString("base64");

let dataDir: string;
let temporary: TemporaryFolder;
let seats: FileSeats;
let pages: PageHost;
let files: FileReader;
/** Names of objects that were fetched. */
let fetched: string[];
/** What is fetched; a test replaces it. */
let get: (asked: StoreGet) => Promise<Readable>;

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "holdfast-files-"));
  temporary = await openTemporaryFolder(dataDir, (error) => {
    throw error;
  });
  fetched = [];
  get = async () => Readable.from([page]);
  const storage = {
    async get(asked: StoreGet) {
      fetched.push(asked.name);
      return get(asked);
    },
  } as Storage;
  seats = createFileSeats();
  pages = createPageHost({ storage, keyring, temporary, seats: seats.pages });
  files = createFileReader({ db: {} as never, storage, temporary, seats: seats.inputFiles });
});
afterEach(async () => {
  await Promise.all([pages.close(), files.close()]);
  await temporary.close();
  await rm(dataDir, { recursive: true, force: true });
});

const caller = (user = "ada"): Principal =>
  ({ organization: { id: organizationId }, user: { id: user }, apiKeyId: null }) as Principal;
const staying = new AbortController().signal;

/** A page that no cache has, since no two have one object. */
function show({ user = "ada", signal = staying, object = randomUUID(), width = 100 } = {}): Promise<Buffer> {
  const file = { object_key: object, file_type: "PDF", file_size: page.length, version: 3 } as const;
  return pages.picture(
    { principal: caller(user), file, signal },
    { page: 1, width, format: "png", boxes: [] },
  );
}

function read({ user = "ada", signal = staying, data = word } = {}): Promise<string> {
  const principal = caller(user);
  const ask = { principal, param: "input[0]", signal, lookUp: async () => principal };
  return files.parsedText(ask, data, "words.md");
}

const expectPage = async (picture: Promise<Buffer>): Promise<void> =>
  expect(await see(await picture)).toMatchObject({ format: "png", width: 100 });
const expectText = async (text: Promise<string>): Promise<void> => expect(await text).toContain("word word");

test("a page is shown after a file of a request was read, and the other way round", async () => {
  await expectPage(show());
  await expectText(read());
  await expectPage(show());
  await expectText(read());
});

test("a file of a request is read after a page was shown, and the other way round", async () => {
  await expectText(read());
  await expectPage(show());
  await expectText(read());
  await expectPage(show());
});

test("processes whose folder was removed are replaced", async () => {
  await expectPage(show());
  await expectText(read());
  await rm(join(dataDir, "tmp"), { recursive: true });
  await expectPage(show());
  await expectText(read());
  expect(await placedFiles()).toEqual([]);
});

test("nothing is fetched before its turn, and what waits is given up when its client leaves", async () => {
  const opened = Promise.withResolvers<void>();
  get = async () => {
    await opened.promise;
    return Readable.from([page]);
  };
  const first = show();
  await until("the first is fetched", () => fetched.length === 1);
  const leaving = new AbortController();
  const waiting = show({ signal: leaving.signal });
  const staysWaiting = show();
  await until("3 seats are taken", () => seats.counts().page === 3);
  leaving.abort();
  await expect(waiting).rejects.toMatchObject({ name: "AbortError" });
  await until("2 seats are taken", () => seats.counts().page === 2);
  expect(fetched).toHaveLength(1);
  opened.resolve();
  for (const picture of [first, staysWaiting]) await expectPage(picture);
  expect(fetched).toHaveLength(2);
  expect(seats.counts().page).toBe(0);
  expect(await placedFiles()).toEqual([]);
});

test("a page that somebody else waits for too is made, though the first who asked has left", async () => {
  const opened = Promise.withResolvers<void>();
  get = async () => {
    await opened.promise;
    return Readable.from([page]);
  };
  const object = randomUUID();
  const leaving = new AbortController();
  const left = show({ object, signal: leaving.signal });
  await until("it is fetched", () => fetched.length === 1);
  const other = show({ object, user: "bob" });
  // Both look into the cache first.
  await new Promise(setImmediate);
  leaving.abort();
  await expect(left).rejects.toMatchObject({ name: "AbortError" });
  opened.resolve();
  await expectPage(other);
  expect(fetched).toHaveLength(1);
});

test("a user's ninth page and an organization's thirty-third are refused, and nothing of them is fetched", async () => {
  get = () => new Promise(() => undefined);
  const leaving = new AbortController();
  const { signal } = leaving;
  const all = ["ada", "bob", "cyd", "dee"].flatMap((user) =>
    Array.from({ length: 8 }, () => show({ user, signal })),
  );
  const ended = Promise.allSettled(all);
  await until("32 seats are taken", () => seats.counts().page === 32);
  await expect(show({ signal })).rejects.toMatchObject({
    reason: "too_many_open",
    status: 429,
    retryAfterSeconds: 1,
    budget: { name: "user-pages", quota: 8 },
  });
  await expect(show({ user: "eve", signal })).rejects.toMatchObject({
    budget: { name: "organization-pages", quota: 32 },
  });
  expect(fetched.length).toBeLessThanOrEqual(1);
  leaving.abort();
  await ended;
  await until("0 seats are taken", () => seats.counts().page === 0);
});

test("a file in the request counts by its size until it is read", async () => {
  const large = Buffer.alloc(2_500_000, "word ").toString("base64");
  const reads = [read({ data: large }), read({ data: large })];
  expect(seats.counts().input_file).toBe(8);
  await expect(read({ data: large })).rejects.toMatchObject({
    reason: "too_many_open",
    budget: { name: "user-input-files", quota: 10 },
  });
  for (const text of reads)
    await expect(text).rejects.toMatchObject({
      code: "bad_request",
      param: "input[0]",
      message: expect.stringContaining("too_large"),
    });
  expect(seats.counts().input_file).toBe(0);
});

test("a file that is gone when its turn has come is a clear refusal", async () => {
  get = async () => {
    throw notFound("document");
  };
  await expect(show()).rejects.toMatchObject({ reason: "version_not_kept", status: 410 });
});

test("a folder that cannot be written is an outage, and the next request is served when it can", async () => {
  await expectText(read());
  const own = temporary.subfolder("pages");
  await rm(own, { recursive: true });
  await writeFile(own, "");
  await expect(show()).rejects.toMatchObject({ code: "storage_unavailable", status: 503 });
  await rm(own);
  await expectPage(show());
});

/** What is left of files, besides the folders of parser processes. */
async function placedFiles(): Promise<string[]> {
  const found = await Promise.all(["pages", "input-files"].map((name) => readdir(temporary.subfolder(name))));
  return found.flat().filter((name) => !name.startsWith("parser-"));
}
