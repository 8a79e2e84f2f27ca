/**
 * Lists of stores that answer in pages as real services do: short pages, and names that are not Holdfast's.
 */
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createDirectoryStore } from "../../../src/storage/stores/directory.ts";
import { createGcsStore } from "../../../src/storage/stores/gcs.ts";
import { objectName } from "../../../src/storage/object-store.ts";
import type { ObjectStore } from "../../../src/storage/object-store.ts";
import { createS3Store } from "../../../src/storage/stores/s3.ts";

/** Names of a page at most. GCS and S3 say 1,000, and a store that is compatible with S3 may give fewer. */
const LARGEST_PAGE = 1_000;
const OURS = "01900000-0000-7000-8000-000000000001";
const id = (at: number): string => `01900000-0000-7000-8000-${String(at).padStart(12, "0")}`;
const names = Array.from({ length: 2_500 }, (_, at) => objectName(OURS, id(at))).toSorted();
/** The marker of a folder, somebody's copy, and a name that would lead out of a folder. */
const foreign = [`${OURS}/`, `${OURS}/00/notes.txt`, `${OURS}/../../etc/passwd`, `${names[3]!}.bak`];
const kept = [...names, ...foreign].toSorted();

let server: Server;
let origin: string;
let answer: (query: URLSearchParams, isS3: boolean) => string;
beforeEach(async () => {
  vi.stubEnv("AWS_ACCESS_KEY_ID", "key").stubEnv("AWS_SECRET_ACCESS_KEY", "secret");
  answer = page;
  server = createServer((request, response) => {
    const { searchParams } = new URL(request.url!, "http://store");
    const isS3 = searchParams.has("list-type");
    response
      .writeHead(200, { "content-type": isS3 ? "application/xml" : "application/json" })
      .end(answer(searchParams, isS3));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => {
  vi.unstubAllEnvs();
  server.closeAllConnections();
  server.close();
});

/**
 * By the documentation of both, GCS begins with `startOffset` and S3 after `start-after`; a token continues
 * where a page ended.
 */
function page(query: URLSearchParams, isS3: boolean): string {
  const asked = Number(query.get("maxResults") ?? query.get("max-keys"));
  const [offset, behind] = [query.get("startOffset") ?? "", query.get("start-after") ?? ""];
  const token = Number(query.get("pageToken") ?? query.get("continuation-token") ?? 0);
  const all = kept.filter(
    (name) => name.startsWith(query.get("prefix") ?? "") && name >= offset && name > behind,
  );
  const end = token + Math.min(asked, LARGEST_PAGE);
  const [some, next] = [all.slice(token, end), end < all.length ? String(end) : undefined];
  if (!isS3)
    return JSON.stringify({
      items: some.map((name) => ({ name, updated: "2030-01-01T00:00:00Z" })),
      nextPageToken: next,
    });
  return list(some.map((name) => `<Contents><Key>${name}</Key></Contents>`).join(""), next);
}

function list(contents: string, next: string | undefined): string {
  const more = next === undefined ? "" : `<NextContinuationToken>${next}</NextContinuationToken>`;
  const isTruncated = `<IsTruncated>${next !== undefined}</IsTruncated>`;
  return `<ListBucketResult>${isTruncated}${more}${contents}</ListBucketResult>`;
}

const STORES = {
  gcs: () => createGcsStore({ bucket: "objects", emulatorHost: origin }),
  s3: () => createS3Store({ bucket: "objects", endpoint: origin, forcePathStyle: true }),
};

/** Lists as backups and the sweep do: a page that is not full is the last one. */
async function listAll(store: ObjectStore): Promise<string[]> {
  const found: string[] = [];
  for (let after: string | undefined; ;) {
    const some = await store.list(`${OURS}/`, {
      limit: LARGEST_PAGE,
      ...(after === undefined ? {} : { after }),
    });
    found.push(...some.map(({ name }) => name));
    if (some.length < LARGEST_PAGE) return found;
    after = some.at(-1)!.name;
  }
}

test.each(["gcs", "s3"] as const)(
  "goes through all of an organization's objects in %s, and no others",
  async (kind) => {
    expect(await listAll(STORES[kind]())).toEqual(names);
  },
);

test.each(["gcs", "s3"] as const)(
  "a list of %s that has no end, or goes round in a circle, is an outage",
  async (kind) => {
    let count = 0;
    for (const next of [() => "same", () => String(++count)]) {
      answer = (_query, isS3) => (isS3 ? list("", next()) : JSON.stringify({ nextPageToken: next() }));
      await expect(STORES[kind]().list(`${OURS}/`, { limit: 10 })).rejects.toMatchObject({
        code: "storage_unavailable",
      });
    }
    expect(count).toBe(1_000);
  },
);

test("an answer of S3 that is no list is an outage, and no empty bucket", async () => {
  answer = () => "<html><body>Please log in</body></html>";
  await expect(STORES.s3().list(`${OURS}/`, { limit: 10 })).rejects.toMatchObject({
    code: "storage_unavailable",
  });
});

test("a folder of objects lists none of the files that others put there", async () => {
  const folder = await mkdtemp(join(tmpdir(), "objects-"));
  for (const name of [names[0]!, `${OURS}/00/notes.txt`, `${names[0]!}.bak`]) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), "");
  }
  expect(
    (await createDirectoryStore(folder).list(`${OURS}/`, { limit: 10 })).map(({ name }) => name),
  ).toEqual([names[0]]);
  await rm(folder, { recursive: true });
});
