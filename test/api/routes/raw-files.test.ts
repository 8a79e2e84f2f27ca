import { createHash } from "node:crypto";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Answer, call, ended, fileForm, upload } from "../../support/client.ts";
import { startIssuer, type TestIssuer } from "../../support/issuer.ts";
import { type Stack, startStack } from "../../support/stack.ts";
import { KEYS, SPACES } from "../../support/tenants.ts";
import { until } from "../../support/until.ts";

let stack: Stack;
let issuer: TestIssuer;
let tokens: { ada: string; vic: string };

beforeAll(async () => {
  issuer = await startIssuer();
  stack = await startStack({ env: { OIDC_ISSUER: issuer.url, OIDC_AUDIENCE: issuer.audience, MAX_UPLOAD_BYTES: "4194304" } });
  tokens = { ada: await issuer.token("ada"), vic: await issuer.token("vic") };
});
afterAll(async () => {
  await stack.close();
  await issuer.close();
});

const root = `/spaces/${SPACES.research}/data`;
const at = (path: string) => `path=${encodeURIComponent(path)}`;
const request = (method: string, path: string, body?: unknown, headers?: Record<string, string>) => call(stack.url, KEYS.editor, method, path, body, headers);
const put = (folder: string, name: string, content: string | Uint8Array<ArrayBuffer>, key = KEYS.editor) => call(stack.url, key, "POST", `${root}/upload`, fileForm(content, name, { path: folder }));
const get = (path: string, headers: Record<string, string> = {}, method = "GET") =>
  fetch(`${stack.url}/v1${root}/download?${at(path)}`, { method, headers: { authorization: `Bearer ${KEYS.editor}`, ...headers } });
const content = async (path: string) => (await get(path)).text();
const rename = (old_path: string, new_path: string) => request("PATCH", `${root}/rename`, { old_path, new_path });
const remove = (path: string) => request("DELETE", `${root}/files?${at(path)}`);
const list = async (prefix: string): Promise<Answer["body"][]> => (await request("GET", `${root}/files?prefix=${encodeURIComponent(prefix)}`)).body.items;
const paths = async (prefix: string) => (await list(prefix)).map((file) => file.path).toSorted();
const one = async (path: string) => (await list(path)).find((file) => file.path === path);
const found = async (query: string): Promise<string[]> =>
  (await request("POST", "/data/hybrid-search", { query, space_id: SPACES.research })).body.results.filter((hit: any) => hit.sparse_score !== null).map((hit: any) => hit.text);

/** Uploads, and waits until the file's document is searchable. */
async function stored(folder: string, name: string, text: string): Promise<Answer["body"]> {
  const answer = await put(folder, name, text);
  expect(answer.status).toBe(201);
  const file = await one(folder === "" ? name : `${folder}/${name}`);
  await ended(stack.url, KEYS.editor, file.document_id);
  return file;
}

describe("an upload to a path", () => {
  test("answers with the object's name, makes a document and leads to search", async () => {
    const answer = await put("reports/2026/", "plan.md", "# Plan\n\nThe zanzibar initiative starts in spring.");
    expect(answer).toMatchObject({ status: 201, body: { object_name: `spaces/${SPACES.research}/data/reports/2026/plan.md` } });
    const file = await one("reports/2026/plan.md");
    const document = await ended(stack.url, KEYS.editor, file.document_id);
    expect(document).toMatchObject({ doc_metadata: { original_filename: "plan.md" }, file_path: `spaces/${SPACES.research}/documents/${file.document_id}/original/plan.md`, processing_state: { pipeline_status: "completed" } });
    expect(await found("zanzibar")).toEqual([expect.stringContaining("zanzibar")]);
  });

  test("takes the root as an empty path", async () => {
    expect((await put("", "root.txt", "at the root")).body).toEqual({ object_name: `spaces/${SPACES.research}/data/root.txt` });
    expect(await content("root.txt")).toBe("at the root");
  });

  test("needs a path and a file, and names both where both are missing", async () => {
    const form = new FormData();
    form.set("other", "x");
    const { status, body } = await request("POST", `${root}/upload`, form);
    expect(status).toBe(422);
    expect(body.detail.map((problem: any) => [problem.loc, problem.type])).toEqual([[["body", "file"], "missing"], [["body", "path"], "missing"]]);
  });

  test.each(["..", "../up", "a/../../b", "/etc", "a//b", "a\\b", "./a", "a\nb", "a\u0000b", "p".repeat(256), `${"p".repeat(200)}/`.repeat(6)])("refuses the path %j", async (path) => {
    const { status, body } = await put(path, "x.txt", "x");
    expect(status).toBe(422);
    expect(body.detail[0].loc).toEqual(["body", "path"]);
  });

  test("bounds the whole path, with the file's name", async () => {
    const folder = Array.from({ length: 5 }, () => "p".repeat(199)).join("/");
    const { status, body } = await put(folder, "a-name-of-some-length.txt", "x");
    expect(status).toBe(422);
    expect(body.detail[0].loc).toEqual(["body", "path"]);
  });

  test("is 403 for a viewer and 404 for a stranger", async () => {
    expect(await put("", "x.txt", "x", KEYS.viewer)).toMatchObject({ status: 403, body: { detail: "Permission denied: files:create" } });
    for (const key of [KEYS.rival, KEYS.scoped]) expect(await put("", "x.txt", "x", key)).toMatchObject({ status: 404, body: { detail: "Space not found" } });
  });

  test("over the size limit is 400 and leaves nothing", async () => {
    const { status, body } = await put("big", "big.bin", new Uint8Array(4_194_305));
    expect(status).toBe(400);
    expect(body.detail).toMatch(/^File size \d+ bytes exceeds maximum allowed$/);
    expect(await paths("big")).toEqual([]);
  });
});

describe("a second upload to the same path", () => {
  test("is the document's next version, and search then shows only the new text", async () => {
    const first = await stored("news", "today.md", "An aardvark was seen.");
    await put("news", "today.md", "A basilisk was seen.");
    const document = await until("the second version is published", async () => {
      const { body } = await request("GET", `/data/${first.document_id}`);
      return body.version === 2 && body;
    });
    expect(document.id).toBe(first.document_id);
    expect(await paths("news/")).toEqual(["news/today.md"]);
    expect(await one("news/today.md")).toMatchObject({ document_id: first.document_id, size: 20, sha256: createHash("sha256").update("A basilisk was seen.").digest("hex") });
    expect(await content("news/today.md")).toBe("A basilisk was seen.");
    expect(await found("aardvark")).toEqual([]);
    expect(await found("basilisk")).toEqual(["A basilisk was seen."]);
    const runs = await stack.database.db.owner.query("select version, trigger from pipeline_runs where document_id = $1 order by version", [first.document_id]);
    expect(runs.rows).toEqual([{ version: 1, trigger: "upload" }, { version: 2, trigger: "replace" }]);
  });

  test("at the same time ends in one file with all versions in order", async () => {
    const texts = Array.from({ length: 6 }, (_, index) => `Parallel text number ${index}.`);
    const answers = await Promise.all(texts.map((text) => put("race", "same.md", text)));
    expect(answers.map((answer) => answer.status)).toEqual(texts.map(() => 201));
    const files = await list("race/");
    expect(files).toHaveLength(1);
    const document = await ended(stack.url, KEYS.editor, files[0].document_id);
    expect(document).toMatchObject({ version: 6, processing_state: { pipeline_status: "completed" } });
    const runs = await stack.database.db.owner.query("select r.version, r.trigger, r.status, f.id is not null as is_current from pipeline_runs r left join raw_files f on f.object_key = r.object_key where r.document_id = $1 order by version", [document.id]);
    expect(runs.rows.map((run) => [run.version, run.trigger])).toEqual([[1, "upload"], ...[2, 3, 4, 5, 6].map((version) => [version, "replace"])]);
    expect(runs.rows.map((run) => run.is_current)).toEqual([false, false, false, false, false, true]);
    const kept = await content("race/same.md");
    expect(texts).toContain(kept);
    expect(await found("parallel text number")).toEqual([kept]);
  });

  test("whose document was deleted begins a new document", async () => {
    const first = await stored("gone", "a.md", "A cockatrice was seen.");
    expect((await request("DELETE", `/data/${first.document_id}`)).status).toBe(204);
    expect(await one("gone/a.md")).toMatchObject({ document_id: null, size: 22 });
    const second = await stored("gone", "a.md", "A dragon was seen.");
    expect(second.document_id).not.toBe(first.document_id);
    expect(await paths("gone/")).toEqual(["gone/a.md"]);
    expect(await found("dragon")).toHaveLength(1);
  });
});

describe("the list", () => {
  test("is the envelope, by prefix, newest first, with every field of an entry", async () => {
    await put("list/a", "1.txt", "one");
    await put("list/a", "2.txt", "two");
    await put("list/ab", "3.txt", "three");
    const { status, body } = await request("GET", `${root}/files?prefix=list/a&limit=2`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ total_items: 3, total_pages: 2, page: 1, page_size: 2 });
    expect(body.items.map((file: any) => file.path)).toEqual(["list/ab/3.txt", "list/a/2.txt"]);
    expect(body.items[1]).toEqual({
      object_name: `spaces/${SPACES.research}/data/list/a/2.txt`, path: "list/a/2.txt", name: "2.txt", size: 3, content_type: "text/plain", sha256: createHash("sha256").update("two").digest("hex"),
      document_id: expect.stringMatching(/^[0-9a-f-]{36}$/), created_at: expect.stringMatching(/Z$/), updated_at: expect.stringMatching(/Z$/),
    });
    expect(await paths("list/a/")).toEqual(["list/a/1.txt", "list/a/2.txt"]);
    expect(await paths("list/%")).toEqual([]);
    expect(await paths("list/_/")).toEqual([]);
  });

  test("is empty past its end, and refuses what is out of range", async () => {
    expect((await request("GET", `${root}/files?prefix=list/&page=99`)).body).toMatchObject({ items: [], total_items: 3, page: 99 });
    expect((await request("GET", `${root}/files?limit=1001`)).status).toBe(422);
    expect((await request("GET", `${root}/files?page=0`)).status).toBe(422);
  });

  test("has the files of documents, in their own place and with the document's name", async () => {
    const document = await upload(stack.url, KEYS.editor, SPACES.research, "A file of a document.", "own.md");
    const path = `documents/${document.id}/original/own.md`;
    expect(await one(path)).toMatchObject({ path, name: "own.md", object_name: document.file_path, document_id: document.id });
    expect(await content(path)).toBe("A file of a document.");
    expect(await content(document.file_path)).toBe("A file of a document.");
  });

  test("is read by a viewer, and is 404 for a stranger", async () => {
    expect((await call(stack.url, KEYS.viewer, "GET", `${root}/files`)).status).toBe(200);
    for (const key of [KEYS.rival, KEYS.scoped]) expect(await call(stack.url, key, "GET", `${root}/files`)).toMatchObject({ status: 404, body: { detail: "Space not found" } });
  });
});

describe("a download", () => {
  const bytes = Uint8Array.from({ length: 3_000_000 }, (_, index) => (index * 31) % 251);
  beforeAll(async () => {
    await put("down", "data.bin", bytes);
  });
  const part = (start: number, end: number) => Buffer.from(bytes.subarray(start, end));
  const body = async (response: Response) => Buffer.from(await response.arrayBuffer());

  test("is the file, as an attachment that nothing may run", async () => {
    const response = await get("down/data.bin");
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-length": "3000000", "accept-ranges": "bytes", "content-disposition": 'attachment; filename="data.bin"', "content-type": "application/octet-stream", "x-content-type-options": "nosniff",
      "content-security-policy": expect.stringContaining("sandbox"), etag: expect.stringMatching(/^"[\w-]+"$/), "cache-control": "private, no-cache",
    });
    expect((await body(response)).equals(Buffer.from(bytes))).toBe(true);
  });

  test("answers HEAD with the same headers and no body", async () => {
    const response = await get("down/data.bin", {}, "HEAD");
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({ "content-length": "3000000", "accept-ranges": "bytes", "content-type": "application/octet-stream", etag: expect.any(String) });
    expect((await body(response)).byteLength).toBe(0);
  });

  test.each([
    ["bytes=0-99", 0, 100],
    ["bytes=65530-65545", 65_530, 65_546],
    ["bytes=2999990-", 2_999_990, 3_000_000],
    ["bytes=-7", 2_999_993, 3_000_000],
    ["bytes=2999999-9999999999999999999999", 2_999_999, 3_000_000],
    ["bytes=-9999999999", 0, 3_000_000],
  ])("serves the range %s", async (range, start, end) => {
    const response = await get("down/data.bin", { range });
    expect(response.status).toBe(206);
    expect(response.headers.get("content-range")).toBe(`bytes ${start}-${end - 1}/3000000`);
    expect(response.headers.get("content-length")).toBe(String(end - start));
    expect((await body(response)).equals(part(start, end))).toBe(true);
  });

  test.each(["bytes=3000000-", "bytes=-0", "bytes=99999999999999999999-"])("answers 416 to %s", async (range) => {
    const response = await get("down/data.bin", { range });
    expect(response.status).toBe(416);
    expect(response.headers.get("content-range")).toBe("bytes */3000000");
    expect(await response.json()).toEqual({ detail: expect.any(String) });
  });

  test.each(["bytes=5-2", "bytes=0-1,5-6", "lines=1-2", "bytes=", "bytes=-", "nonsense"])("sends the whole for %s", async (range) => {
    const response = await get("down/data.bin", { range });
    expect(response.status).toBe(200);
    expect((await body(response)).byteLength).toBe(3_000_000);
  });

  test("is not sent again to whoever has it", async () => {
    const etag = (await get("down/data.bin", {}, "HEAD")).headers.get("etag")!;
    for (const header of [etag, `"other", W/${etag}`, "*"]) {
      const response = await get("down/data.bin", { "if-none-match": header });
      expect([response.status, response.headers.get("etag"), await response.text()]).toEqual([304, etag, ""]);
    }
    expect((await get("down/data.bin", { "if-none-match": '"other"' }, "HEAD")).status).toBe(200);
    expect((await get("down/data.bin", { range: "bytes=0-1", "if-range": etag })).status).toBe(206);
    expect((await get("down/data.bin", { range: "bytes=0-1", "if-range": '"other"' })).status).toBe(200);
    await put("down", "data.bin", Uint8Array.from([...bytes.subarray(0, 10)]));
    expect((await get("down/data.bin", { "if-none-match": etag })).status).toBe(200);
    await put("down", "data.bin", bytes);
  });

  test("of an empty file is empty", async () => {
    await put("down", "empty.txt", "");
    const response = await get("down/empty.txt");
    expect([response.status, response.headers.get("content-length"), await response.text()]).toEqual([200, "0", ""]);
    expect((await get("down/empty.txt", { range: "bytes=0-" })).status).toBe(416);
  });

  test("without valid credentials is 403", async () => {
    const url = `${stack.url}/v1${root}/download?${at("down/data.bin")}`;
    for (const authorization of [undefined, "Bearer sk-nobody", "Basic abc", "Bearer a.b.c"]) {
      const response = await fetch(url, { headers: authorization === undefined ? {} : { authorization } });
      expect([authorization, response.status]).toEqual([authorization, 403]);
    }
  });

  test("is 404 for a stranger, for what is not there, and for a folder", async () => {
    for (const key of [KEYS.rival, KEYS.scoped]) expect((await call(stack.url, key, "GET", `${root}/download?${at("down/data.bin")}`)).status).toBe(404);
    expect(await request("GET", `${root}/download?${at("down/none.bin")}`)).toMatchObject({ status: 404, body: { detail: "File not found" } });
    expect((await request("GET", `${root}/download?${at(`spaces/${SPACES.archive}/data/down/data.bin`)}`)).status).toBe(404);
    expect((await request("GET", `${root}/download?${at("down")}`)).status).toBe(404);
    expect((await request("GET", `${root}/download?${at("../x")}`)).status).toBe(422);
    expect((await call(stack.url, KEYS.viewer, "GET", `${root}/download?${at("down/empty.txt")}`)).status).toBe(200);
  });

  test("takes the object's name of the upload", async () => {
    const { body: uploaded } = await put("down", "named.txt", "by name");
    expect(await content(uploaded.object_name)).toBe("by name");
  });

  test("that the client leaves ends, and the service goes on", async () => {
    const target = new URL(`${stack.url}/v1${root}/download?${at("down/data.bin")}`);
    for (let round = 0; round < 5; round += 1) {
      const socket = connect(Number(target.port), target.hostname);
      socket.write(`GET ${target.pathname}${target.search} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${KEYS.editor}\r\n\r\n`);
      await new Promise((resolve) => socket.once("data", resolve));
      socket.destroy();
    }
    expect((await body(await get("down/data.bin"))).byteLength).toBe(3_000_000);
    expect(stack.api.output()).not.toContain('"level":50');
  });

  test("of a name of any script arrives under that name", async () => {
    for (const [name, disposition] of [
      ["grüße 日本.txt", `attachment; filename="gru_e __.txt"; filename*=UTF-8''gr%C3%BC%C3%9Fe%20%E6%97%A5%E6%9C%AC.txt`],
      [`it's "50%".txt`, `attachment; filename="it's _50__.txt"; filename*=UTF-8''it%27s%20%2250%25%22.txt`],
      ["plain (1).txt", 'attachment; filename="plain (1).txt"'],
    ] as const) {
      await put("names", "start.txt", name);
      expect((await rename("names/start.txt", `names/${name}`)).status).toBe(204);
      const response = await get(`names/${name}`);
      expect([response.headers.get("content-disposition"), await response.text()]).toEqual([disposition, name]);
    }
  });

  test("of a name with line breaks cannot break the answer's head", async () => {
    const form = new FormData();
    form.set("path", "names");
    form.set("file", new Blob(["x"]), "a\r\nX-Evil: 1\r\n.txt");
    expect((await request("POST", `${root}/upload`, form)).status).toBe(201);
    const file = (await list("names/a"))[0];
    const response = await get(file.path);
    expect(response.status).toBe(200);
    expect(response.headers.get("x-evil")).toBeNull();
  });
});

describe("a rename", () => {
  test("moves the file, and the document's name follows", async () => {
    const file = await stored("ren", "old.md", "An echidna was seen.");
    expect((await rename("ren/old.md", "elsewhere/new.md")).status).toBe(204);
    expect(await paths("ren/")).toEqual([]);
    expect(await content("elsewhere/new.md")).toBe("An echidna was seen.");
    const { body: document } = await request("GET", `/data/${file.document_id}`);
    expect(document).toMatchObject({ doc_metadata: { original_filename: "new.md" }, file_path: `spaces/${SPACES.research}/documents/${file.document_id}/original/new.md`, version: 1 });
    const { body } = await request("POST", "/data/hybrid-search", { query: "echidna", space_id: SPACES.research });
    expect(body.results[0]).toMatchObject({ document_id: file.document_id, document_name: "new.md" });
    expect((await get("ren/old.md")).status).toBe(404);
    expect(await content(document.file_path)).toBe("An echidna was seen.");
  });

  test("works for the file of a document, which is found by all its names", async () => {
    const document = await upload(stack.url, KEYS.editor, SPACES.research, "moved", "own.md");
    expect((await rename(`documents/${document.id}/original/own.md`, "shelf/mine.md")).status).toBe(204);
    for (const name of ["shelf/mine.md", `spaces/${SPACES.research}/data/shelf/mine.md`, `spaces/${SPACES.research}/documents/${document.id}/original/mine.md`]) expect(await content(name)).toBe("moved");
  });

  test("onto a file that exists is 400 and changes nothing; onto itself it is nothing", async () => {
    await put("con", "a.txt", "a");
    await put("con", "b.txt", "b");
    expect(await rename("con/a.txt", "con/b.txt")).toMatchObject({ status: 400, body: { detail: "A file exists at the new path already." } });
    expect([await content("con/a.txt"), await content("con/b.txt")]).toEqual(["a", "b"]);
    expect((await rename("con/a.txt", "con/a.txt")).status).toBe(204);
  });

  test("of what is not there is 404; of a bad path 422; of a viewer 403; of a stranger 404", async () => {
    expect(await rename("con/none.txt", "con/c.txt")).toMatchObject({ status: 404, body: { detail: "File not found" } });
    expect((await rename("con/none/", "con/c/")).status).toBe(404);
    for (const [from, to] of [["con/a.txt", "../a.txt"], ["con/a.txt", "/a.txt"], ["con/a.txt", "con/b/"], ["con/", "x"], ["con/a.txt", ""]]) expect([to, (await rename(from!, to!)).status]).toEqual([to, 422]);
    expect((await request("PATCH", `${root}/rename`, {})).body.detail.map((problem: any) => problem.loc)).toEqual([["body", "old_path"], ["body", "new_path"]]);
    const body = { old_path: "con/a.txt", new_path: "con/c.txt" };
    expect(await call(stack.url, KEYS.viewer, "PATCH", `${root}/rename`, body)).toMatchObject({ status: 403, body: { detail: "Permission denied: files:rename" } });
    expect((await call(stack.url, KEYS.rival, "PATCH", `${root}/rename`, body)).status).toBe(404);
  });

  test("of a prefix moves all below it and nothing beside it", async () => {
    for (const [folder, name] of [["tree/a", "1.txt"], ["tree/a/b", "2.txt"], ["tree/ab", "3.txt"]]) await put(folder!, name!, name!);
    expect((await rename("tree/a/", "wood/x/y/")).status).toBe(204);
    expect(await paths("tree/")).toEqual(["tree/ab/3.txt"]);
    expect(await paths("wood/")).toEqual(["wood/x/y/1.txt", "wood/x/y/b/2.txt"]);
    expect(await content("wood/x/y/b/2.txt")).toBe("2.txt");
  });

  test("of a prefix onto a file that exists moves nothing at all", async () => {
    for (const [folder, name] of [["from", "1.txt"], ["from", "2.txt"], ["to", "2.txt"]]) await put(folder!, name!, folder!);
    expect((await rename("from/", "to/")).status).toBe(400);
    expect([await paths("from/"), await paths("to/")]).toEqual([["from/1.txt", "from/2.txt"], ["to/2.txt"]]);
  });

  test("of a prefix to above itself works where paths cross, and to below itself is 400", async () => {
    for (const folder of ["n/n", "n/n/n"]) await put(folder, "x.txt", folder);
    expect((await rename("n/n/", "n/")).status).toBe(204);
    expect([await content("n/x.txt"), await content("n/n/x.txt")]).toEqual(["n/n", "n/n/n"]);
    expect(await rename("n/", "n/deeper/")).toMatchObject({ status: 400 });
  });

  test("of a prefix to where paths would be too long is 422", async () => {
    const long = Array.from({ length: 5 }, () => "p".repeat(190)).join("/");
    await put("long/folder-with-a-name", `${"n".repeat(100)}.txt`, "x");
    expect((await rename("long/", `${long}/`)).status).toBe(422);
    expect(await paths("long/")).toHaveLength(1);
  });

  test("of prefixes and uploads at the same time lose no file", async () => {
    const rounds = Array.from({ length: 10 }, (_, index) => index);
    const answers = await Promise.all([
      ...rounds.map((index) => put("busy/a", `${index}.txt`, String(index))),
      ...rounds.map((index) => rename(index % 2 === 0 ? "busy/a/" : "busy/b/", index % 2 === 0 ? "busy/b/" : "busy/a/")),
    ]);
    expect(answers.map((answer) => answer.status).filter((status) => ![201, 204, 400, 404].includes(status))).toEqual([]);
    const names = (await list("busy/")).map((file) => file.name).toSorted();
    expect(names).toEqual(rounds.map((index) => `${index}.txt`));
  });
});

describe("a deletion", () => {
  test("takes the file, its document and its search entries at once, and everything else in the end", async () => {
    const file = await stored("del", "secret.md", "A firebird was seen.");
    expect(await found("firebird")).toHaveLength(1);
    const { rows } = await stack.database.db.owner.query("select object_key from raw_files where id in (select id from raw_files where path = 'del/secret.md')");
    expect((await remove("del/secret.md")).status).toBe(204);
    expect(await found("firebird")).toEqual([]);
    expect((await get("del/secret.md")).status).toBe(404);
    expect((await request("GET", `/data/${file.document_id}`)).status).toBe(404);
    expect(await paths("del/")).toEqual([]);
    expect(await remove("del/secret.md")).toMatchObject({ status: 404, body: { detail: "File not found" } });
    await until("nothing of it is left", async () => {
      const left = await stack.database.db.owner.query(
        "select (select count(*) from documents where id = $1) + (select count(*) from chunks where document_id = $1) + (select count(*) from raw_files where object_key = $2) as left",
        [file.document_id, rows[0].object_key],
      );
      return Number(left.rows[0].left) === 0;
    });
    expect((await put("del", "secret.md", "again")).status).toBe(201);
  });

  test("works for the file of a document, and by its object name", async () => {
    const document = await upload(stack.url, KEYS.editor, SPACES.research, "to be deleted", "own.md");
    expect((await remove(document.file_path)).status).toBe(204);
    expect((await request("GET", `/data/${document.id}`)).status).toBe(404);
  });

  test("is refused where the file has changed since", async () => {
    await put("match", "a.txt", "a");
    const etag = (await get("match/a.txt", {}, "HEAD")).headers.get("etag")!;
    await put("match", "a.txt", "b");
    expect((await request("DELETE", `${root}/files?${at("match/a.txt")}`, undefined, { "if-match": etag })).status).toBe(412);
    expect(await content("match/a.txt")).toBe("b");
  });

  test("is 403 for a viewer, 404 for a stranger, 422 without a path", async () => {
    await put("del", "kept.txt", "kept");
    const path = `${root}/files?${at("del/kept.txt")}`;
    expect(await call(stack.url, KEYS.viewer, "DELETE", path)).toMatchObject({ status: 403, body: { detail: "Permission denied: files:delete" } });
    expect((await call(stack.url, KEYS.rival, "DELETE", path)).status).toBe(404);
    expect((await request("DELETE", `${root}/files`)).body.detail).toMatchObject([{ loc: ["query", "path"], type: "missing" }]);
  });

  test("at the same time as the deletion of its document never fails", async () => {
    const files = [];
    for (const index of Array.from({ length: 8 }, (_, number) => number)) files.push(await upload(stack.url, KEYS.editor, SPACES.research, `race ${index}`, "race.md"));
    const answers = await Promise.all(files.flatMap((document) => [remove(document.file_path), request("DELETE", `/data/${document.id}`), remove(document.file_path)]));
    expect(answers.map((answer) => answer.status).filter((status) => status !== 204 && status !== 404)).toEqual([]);
  });
});

describe("path folders", () => {
  const make = (path: string, token = tokens.ada) => call(stack.url, token, "POST", `${root}/folders`, { path });

  test("are for tokens of the identity provider alone, and cannot be read there", async () => {
    expect(await call(stack.url, KEYS.owner, "POST", `${root}/folders`, { path: "f" })).toMatchObject({
      status: 401, body: { detail: "API key not accepted on this endpoint, use an identity-provider access token" },
    });
    const read = await call(stack.url, tokens.ada, "GET", `${root}/folders`);
    expect([read.status, read.headers.get("allow")]).toEqual([405, "POST"]);
    expect(await make("f", tokens.vic)).toMatchObject({ status: 403, body: { detail: "Permission denied: files:create" } });
  });

  test("are made once, and listed while they are empty", async () => {
    expect(await make("pf/inner/")).toMatchObject({ status: 201, body: { path: "pf/inner" } });
    expect(await make("pf/inner")).toMatchObject({ status: 201, body: { path: "pf/inner" } });
    expect(await list("pf")).toMatchObject([{ path: "pf/inner", name: "inner", size: null, document_id: null, object_name: `spaces/${SPACES.research}/data/pf/inner` }]);
    await put("pf/inner", "a.txt", "a");
    expect(await paths("pf")).toEqual(["pf/inner/a.txt"]);
    expect(await remove("pf/inner")).toMatchObject({ status: 400, body: { detail: "The folder is not empty." } });
    await remove("pf/inner/a.txt");
    expect(await paths("pf")).toEqual(["pf/inner"]);
    expect((await get("pf/inner")).status).toBe(404);
    expect((await remove("pf/inner")).status).toBe(204);
    expect(await paths("pf")).toEqual([]);
  });

  test("and files never share a path, and move with what is in them", async () => {
    await make("shared");
    expect(await put("", "shared", "x")).toMatchObject({ status: 400, body: { detail: "A folder exists at the path already." } });
    await put("", "taken", "x");
    expect(await make("taken")).toMatchObject({ status: 400, body: { detail: "A file exists at the path already." } });
    await put("shared/deep", "a.txt", "a");
    await make("other");
    expect((await rename("shared", "other")).status).toBe(204);
    expect([await paths("shared"), await paths("other")]).toEqual([[], ["other/deep/a.txt"]]);
    await remove("other/deep/a.txt");
    expect(await paths("other")).toEqual(["other"]);
    expect((await make("../x")).status).toBe(422);
  });
});

test("every change is in the audit log, with the key that made it", async () => {
  const { rows } = await stack.database.db.owner.query(
    "select action, auth_method, outcome, count(*)::int > 0 as seen from audit_log where action like 'files:%' and space_id = $1 and action <> 'files:read' group by 1, 2, 3",
    [SPACES.research],
  );
  const seen = rows.map((row) => `${row.action} ${row.auth_method} ${row.outcome}`);
  expect(seen).toEqual(expect.arrayContaining(["files:create api_key success", "files:rename api_key success", "files:delete api_key success", "files:create jwt success", "files:delete api_key denied"]));
});

test("nothing in all this was unexpected to the service", () => {
  expect(stack.api.output()).not.toContain("a request failed unexpectedly");
});
