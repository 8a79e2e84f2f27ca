import { createHash } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { call, ended, upload } from "../../../support/clients/client.ts";
import { rawFileClient } from "../../../support/clients/raw-file-client.ts";
import { onSharedStack } from "../../../support/stack/shared-stack.ts";
import { until } from "../../../support/until.ts";

const { stack, tenants } = onSharedStack();
const client = rawFileClient({ stack, tenants });

beforeAll(async () => {});
describe("an upload to a path", () => {
  test("answers with the object's name, makes a document and leads to search", async () => {
    const answer = await client.put(
      "reports/2026/",
      "plan.md",
      "# Plan\n\nThe zanzibar initiative starts in spring.",
    );
    expect(answer).toMatchObject({
      status: 201,
      body: { object_name: `spaces/${tenants.spaces.research}/data/reports/2026/plan.md` },
    });
    const file = await client.one("reports/2026/plan.md");
    const document = await ended(stack.url, tenants.keys.editor, file.document_id);
    expect(document).toMatchObject({
      doc_metadata: { original_filename: "plan.md" },
      file_path: `spaces/${tenants.spaces.research}/documents/${file.document_id}/original/plan.md`,
      processing_state: { pipeline_status: "completed" },
    });
    expect(await client.found("zanzibar")).toEqual([expect.stringContaining("zanzibar")]);
  });

  test("takes the root as an empty path", async () => {
    expect((await client.put("", "root.txt", "at the root")).body).toEqual({
      object_name: `spaces/${tenants.spaces.research}/data/root.txt`,
    });
    expect(await client.content("root.txt")).toBe("at the root");
  });

  test("needs a path and a file, and names both if both are missing", async () => {
    const form = new FormData();
    form.set("other", "x");
    const { status, body } = await client.request("POST", `${client.root}/upload`, form);
    expect(status).toBe(422);
    expect(body.detail.map((problem: any) => [problem.loc, problem.type])).toEqual([
      [["body", "file"], "missing"],
      [["body", "path"], "missing"],
    ]);
  });

  test.each([
    "..",
    "../up",
    "a/../../b",
    "/etc",
    "a//b",
    "a\\b",
    "./a",
    "a\nb",
    "a\u0000b",
    "p".repeat(256),
    `${"p".repeat(200)}/`.repeat(6),
  ])("refuses the path %j", async (path) => {
    const { status, body } = await client.put(path, "x.txt", "x");
    expect(status).toBe(422);
    expect(body.detail[0].loc).toEqual(["body", "path"]);
  });

  test("bounds the whole path, with the file's name", async () => {
    const folder = Array.from({ length: 5 }, () => "p".repeat(199)).join("/");
    const { status, body } = await client.put(folder, "a-name-of-some-length.txt", "x");
    expect(status).toBe(422);
    expect(body.detail[0].loc).toEqual(["body", "path"]);
  });

  test("is 403 for a viewer and 404 for a stranger", async () => {
    expect(await client.put("", "x.txt", "x", tenants.keys.viewer)).toMatchObject({
      status: 403,
      body: { detail: "Permission denied: files:create" },
    });
    for (const key of [tenants.keys.rival, tenants.keys.scoped])
      expect(await client.put("", "x.txt", "x", key)).toMatchObject({
        status: 404,
        body: { detail: "Space not found" },
      });
  });

  test("over the size limit is 400 and leaves nothing", async () => {
    const { status, body } = await client.put("big", "big.bin", new Uint8Array(4_194_305));
    expect(status).toBe(400);
    expect(body.detail).toBe("File size 4194305 bytes exceeds maximum allowed");
    expect(await client.paths("big")).toEqual([]);
  });
});

describe("a second upload to the same path", () => {
  test("is the document's next version, and search then shows only the new text", async () => {
    const first = await client.stored("news", "today.md", "An aardvark was seen.");
    await client.put("news", "today.md", "A basilisk was seen.");
    const document = await until("the second version is published", async () => {
      const { body } = await client.request("GET", `/data/${first.document_id}`);
      return body.version === 2 && body;
    });
    expect(document.id).toBe(first.document_id);
    expect(await client.paths("news/")).toEqual(["news/today.md"]);
    expect(await client.one("news/today.md")).toMatchObject({
      document_id: first.document_id,
      size: 20,
      sha256: createHash("sha256").update("A basilisk was seen.").digest("hex"),
    });
    expect(await client.content("news/today.md")).toBe("A basilisk was seen.");
    expect(await client.found("aardvark")).toEqual([]);
    expect(await client.found("basilisk")).toEqual(["A basilisk was seen."]);
    const runs = await stack.database.db.owner.query(
      "select version, trigger from pipeline_runs where document_id = $1 order by version",
      [first.document_id],
    );
    expect(runs.rows).toEqual([
      { version: 1, trigger: "upload" },
      { version: 2, trigger: "replace" },
    ]);
  });

  test("at the same time ends in one file with all versions in order", async () => {
    const texts = Array.from({ length: 6 }, (_, index) => `Parallel text number ${index}.`);
    const answers = await Promise.all(texts.map((text) => client.put("race", "same.md", text)));
    expect(answers.map((answer) => answer.status)).toEqual(texts.map(() => 201));
    const files = await client.list("race/");
    expect(files).toHaveLength(1);
    const document = await ended(stack.url, tenants.keys.editor, files[0].document_id);
    expect(document).toMatchObject({ version: 6, processing_state: { pipeline_status: "completed" } });
    const runs = await stack.database.db.owner.query(
      `select run.version, run.trigger, run.status, file.id is not null as is_current
       from pipeline_runs run
       left join raw_files file on file.object_key = run.object_key
       where run.document_id = $1
       order by run.version`,
      [document.id],
    );
    expect(runs.rows.map((run) => [run.version, run.trigger])).toEqual([
      [1, "upload"],
      ...[2, 3, 4, 5, 6].map((version) => [version, "replace"]),
    ]);
    expect(runs.rows.map((run) => run.is_current)).toEqual([false, false, false, false, false, true]);
    const kept = await client.content("race/same.md");
    expect(texts).toContain(kept);
    expect(await client.found("parallel text number")).toEqual([kept]);
  });

  test("whose document was deleted begins a new document", async () => {
    const first = await client.stored("gone", "a.md", "A cockatrice was seen.");
    expect((await client.request("DELETE", `/data/${first.document_id}`)).status).toBe(204);
    expect(await client.one("gone/a.md")).toMatchObject({ document_id: null, size: 22 });
    const second = await client.stored("gone", "a.md", "A dragon was seen.");
    expect(second.document_id).not.toBe(first.document_id);
    expect(await client.paths("gone/")).toEqual(["gone/a.md"]);
    expect(await client.found("dragon")).toHaveLength(1);
  });
});

describe("the list", () => {
  test("is the envelope, by prefix, newest first, with every field of an entry", async () => {
    await client.put("list/a", "1.txt", "one");
    await client.put("list/a", "2.txt", "two");
    await client.put("list/ab", "3.txt", "three");
    const { status, body } = await client.request("GET", `${client.root}/files?prefix=list/a&limit=2`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ total_items: 3, total_pages: 2, page: 1, page_size: 2 });
    expect(body.items.map((file: any) => file.path)).toEqual(["list/ab/3.txt", "list/a/2.txt"]);
    expect(body.items[1]).toEqual({
      object_name: `spaces/${tenants.spaces.research}/data/list/a/2.txt`,
      path: "list/a/2.txt",
      name: "2.txt",
      size: 3,
      content_type: "text/plain",
      sha256: createHash("sha256").update("two").digest("hex"),
      document_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      created_at: expect.stringMatching(/Z$/),
      updated_at: expect.stringMatching(/Z$/),
    });
    expect(await client.paths("list/a/")).toEqual(["list/a/1.txt", "list/a/2.txt"]);
    expect(await client.paths("list/%")).toEqual([]);
    expect(await client.paths("list/_/")).toEqual([]);
  });

  test("is empty past its end, and refuses what is out of range", async () => {
    expect((await client.request("GET", `${client.root}/files?prefix=list/&page=99`)).body).toMatchObject({
      items: [],
      total_items: 3,
      page: 99,
    });
    expect((await client.request("GET", `${client.root}/files?limit=1001`)).status).toBe(422);
    expect((await client.request("GET", `${client.root}/files?page=0`)).status).toBe(422);
  });

  test("has the files of documents, in their own place and with the document's name", async () => {
    const document = await upload(
      stack.url,
      tenants.keys.editor,
      tenants.spaces.research,
      "A file of a document.",
      "own.md",
    );
    const path = `documents/${document.id}/original/own.md`;
    expect(await client.one(path)).toMatchObject({
      path,
      name: "own.md",
      object_name: document.file_path,
      document_id: document.id,
    });
    expect(await client.content(path)).toBe("A file of a document.");
    expect(await client.content(document.file_path)).toBe("A file of a document.");
    const root = `spaces/${tenants.spaces.research}`;
    const all = await client.paths("");
    expect(all).toContain(path);
    for (const rest of ["", "/", "/d", "/data", "/data/"])
      expect({ rest, paths: await client.paths(`${root}${rest}`) }).toEqual({ rest, paths: all });
    expect(await client.paths(`${root}/docu`)).toContain(path);
  });

  test("is read by a viewer, and is 404 for a stranger", async () => {
    expect((await call(stack.url, tenants.keys.viewer, "GET", `${client.root}/files`)).status).toBe(200);
    for (const key of [tenants.keys.rival, tenants.keys.scoped])
      expect(await call(stack.url, key, "GET", `${client.root}/files`)).toMatchObject({
        status: 404,
        body: { detail: "Space not found" },
      });
  });
});

test("nothing in all this was unexpected to the service", () => {
  expect(stack.api.output()).not.toContain("a request failed unexpectedly");
});
