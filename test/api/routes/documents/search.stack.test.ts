/** POST /data/search through the HTTP API. */
import { beforeAll, describe, expect, test } from "vitest";
import { DOCUMENT_FIELDS } from "../../../../src/schema/documents/document.ts";
import { type Answer, call, ended, upload } from "../../../support/clients/client.ts";
import { onSharedStack } from "../../../support/stack/shared-stack.ts";

const { stack, tenants } = onSharedStack();
let made: Record<"alpha" | "beta" | "gamma" | "archived", Answer["body"]>;

const search = (body?: unknown, query = "", key = tenants.keys.editor) =>
  call(stack.url, key, "POST", `/data/search${query}`, body);
const names = async (
  filters: Record<string, unknown>,
  order_by: string[] = ["created_at"],
): Promise<string[]> => {
  const { status, body } = await search({ filters, order_by });
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body.items.map((document: Answer["body"]) => document.doc_metadata.original_filename);
};

beforeAll(async () => {
  const put = async (
    content: string | Uint8Array<ArrayBuffer>,
    name: string,
    space = tenants.spaces.research,
    key = tenants.keys.editor,
  ): Promise<Answer["body"]> =>
    ended(stack.url, key, (await upload(stack.url, key, space, content, name)).id);
  made = {
    alpha: await put("# Alpha\n\nIs first.", "alpha.md"),
    beta: await put("beta is second, and longer than the first.", "Beta 100%.txt"),
    gamma: await put(new Uint8Array([0, 1, 2, 255, 254, 0, 9, 8, 7]), "gamma_x.bin"),
    archived: await put("In the archive.", "archived.md", tenants.spaces.archive, tenants.keys.owner),
  };
  await call(stack.url, tenants.keys.editor, "PATCH", `/data/${made.alpha.id}`, {
    doc_metadata: { project: "apollo", year: 1969, live: true },
  });
  await call(stack.url, tenants.keys.editor, "PATCH", `/data/${made.beta.id}`, {
    doc_metadata: { project: "Gemini", year: 1965 },
  });
});
const [A, B, G] = ["alpha.md", "Beta 100%.txt", "gamma_x.bin"];

test("lists what the caller reaches, newest first, in the envelope, with or without a body", async () => {
  for (const body of [undefined, {}, { filters: null, order_by: null }, { filters: {}, order_by: [] }]) {
    const answer = await search(body);
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ total_items: 3, total_pages: 1, page: 1, page_size: 20 });
    expect(answer.body.items.map((document: Answer["body"]) => document.id)).toEqual([
      made.gamma.id,
      made.beta.id,
      made.alpha.id,
    ]);
  }
  const [first] = (await search({})).body.items;
  expect(first).toEqual((await call(stack.url, tenants.keys.editor, "GET", `/data/${made.gamma.id}`)).body);
});

test("never reaches beyond the key, whatever the filter says", async () => {
  expect((await search({}, "", tenants.keys.viewer)).body.total_items).toBe(3);
  expect((await search({}, "", tenants.keys.owner)).body.total_items).toBe(4);
  expect(
    (await search({}, "", tenants.keys.scoped)).body.items.map((document: Answer["body"]) => document.id),
  ).toEqual([made.archived.id]);
  expect((await search({}, "", tenants.keys.rival)).body.total_items).toBe(0);
  for (const filters of [
    { space_id: tenants.spaces.archive },
    { id: made.archived.id },
    { id__in: [made.archived.id] },
    { organization_id__ne: tenants.acme },
  ]) {
    expect((await search({ filters })).body).toMatchObject({ total_items: 0, total_pages: 0, items: [] });
  }
});

test("pages are cut by page and limit, and one past the end is empty", async () => {
  expect((await search({}, "?page=2&limit=2")).body).toMatchObject({
    total_items: 3,
    total_pages: 2,
    page: 2,
    page_size: 2,
    items: [{ id: made.alpha.id }],
  });
  expect((await search({}, "?page=9&limit=2")).body).toMatchObject({ total_items: 3, page: 9, items: [] });
  const wrong = await search({}, "?page=0&limit=101");
  expect(wrong.body.detail.map((problem: { loc: unknown }) => problem.loc)).toEqual([
    ["query", "page"],
    ["query", "limit"],
  ]);
});

describe("filters", () => {
  test.each<[Record<string, unknown>, (string | undefined)[]]>([
    [{ file_type__exact: "MARKDOWN" }, [A]],
    [{ file_type: "markdown" }, []],
    [{ file_type__iexact: "markdown" }, [A]],
    [{ file_type__ne: "MARKDOWN" }, [B, G]],
    [{ file_type__in: ["MARKDOWN", "TEXT"] }, [A, B]],
    [{ file_type__in: [] }, []],
    [{ file_size__gt: 20, file_size__lte: 1_000 }, [B]],
    [{ "doc_metadata.original_filename__icontains": "BETA" }, [B]],
    [{ "doc_metadata.extracted__isnull": false }, [A]],
    [{ "doc_metadata.original_filename__contains": "%" }, [B]],
    [{ "doc_metadata.original_filename__endswith": ".md" }, [A]],
    [{ "doc_metadata.original_filename__startswith": "gamma_" }, [G]],
    [{ "doc_metadata.content_type": "text/markdown" }, [A]],
    [{ "doc_metadata.project": "apollo" }, [A]],
    [{ "doc_metadata.project__istartswith": "gem" }, [B]],
    [{ "doc_metadata.project__isnull": true }, [G]],
    [{ "doc_metadata.year__gte": 1966 }, [A]],
    [{ "doc_metadata.year__in": [1965, 1969] }, [A, B]],
    [{ "doc_metadata.live": true }, [A]],
    [{ "processing_state.pipeline_status": "failed" }, [G]],
    [{ "processing_state.embedded": true }, [A, B]],
    [{ "processing_state.chunked__ne": true }, [G]],
    [{ "processing_state.parser_name": "markdown" }, [A]],
    [{ "processing_state.chunker_name__isnull": false }, [A, B]],
    [{ "processing_state.embedding_model__startswith": "scripted" }, [A, B]],
    [{ version: 1 }, [A, B]],
    [{ version__isnull: true }, [G]],
    [{ version: null }, [G]],
    [{ folder_id__isnull: true, space_id__exact: tenants.spaces.research }, [A, B, G]],
    [{ created_at__gt: "2026-01-01", created_at__lt: "2999-01-01T00:00:00Z" }, [A, B, G]],
    [{ file_path__contains: "/original/alpha" }, [A]],
  ])("%j finds %j", async (filters, expected) => {
    expect(await names(filters)).toEqual(expected);
  });

  test("what a document shows finds it", async () => {
    for (const field of [
      "id",
      "space_id",
      "organization_id",
      "created_by",
      "file_type",
      "file_size",
      "file_path",
      "created_at",
    ]) {
      expect(await names({ id: made.beta.id, [`${field}__exact`]: made.beta[field] })).toEqual([B]);
    }
    const { updated_at } = (await call(stack.url, tenants.keys.editor, "GET", `/data/${made.beta.id}`)).body;
    expect(await names({ updated_at })).toEqual([B]);
  });

  test.each([
    ["nonsense", 1],
    ["file_type__near", "PDF"],
    ["file_size", "12"],
    ["file_size__contains", "1"],
    ["space_id", "no-uuid"],
    ["created_at__gt", "yesterday"],
    ["file_type__in", "PDF"],
    ["version__isnull", "yes"],
    ["processing_state.embedded", "true"],
    ["processing_state.secret", 1],
    ["doc_metadata.", 1],
  ])("%s: %j is 422 at its key", async (key, value) => {
    const { status, body } = await search({ filters: { [key]: value } });
    expect(status).toBe(422);
    expect(body.detail).toMatchObject([{ type: "value_error", loc: ["body", "filters", key] }]);
  });
});

describe("order_by", () => {
  test("takes every field that filters take, both ways, and is total", async () => {
    for (const field of Object.keys(DOCUMENT_FIELDS).map((name) => name.replace("*", "project"))) {
      const ascending = await search({ order_by: [field] });
      const descending = await search({ order_by: [`-${field}`] });
      expect([field, ascending.status, descending.status, ascending.body.items.length]).toEqual([
        field,
        200,
        200,
        3,
      ]);
    }
    expect(await names({}, ["-file_size"])).toEqual([B, A, G]);
    expect(await names({}, ["-doc_metadata.year"])).toEqual([A, B, G]);
    expect(await names({}, ["-doc_metadata.original_filename"])).toHaveLength(3);
    expect(await names({}, ["processing_state.embedded", "-created_at"])).toEqual([G, B, A]);
  });

  test("refuses what is no field, at its index", async () => {
    const { status, body } = await search({ filters: [], order_by: ["created_at", "--id", "nope", 7] });
    expect(status).toBe(422);
    expect(body.detail.map((problem: { loc: unknown }) => problem.loc)).toEqual(
      expect.arrayContaining([
        ["body", "filters"],
        ["body", "order_by", 3],
      ]),
    );
    expect((await search({ order_by: ["created_at", "nope"] })).body.detail).toMatchObject([
      { loc: ["body", "order_by", 1] },
    ]);
  });
});

test("a document in a deleted folder is not found", async () => {
  const folder = (
    await call(stack.url, tenants.keys.editor, "POST", "/folders", {
      name: "Soon gone",
      space_id: tenants.spaces.research,
    })
  ).body.id;
  const { id } = await upload(
    stack.url,
    tenants.keys.editor,
    tenants.spaces.research,
    "Soon gone.",
    "gone.md",
  );
  await call(stack.url, tenants.keys.editor, "PATCH", `/data/${id}`, { folder_id: folder });
  expect((await search({ filters: { folder_id: folder } })).body.total_items).toBe(1);
  expect((await call(stack.url, tenants.keys.editor, "DELETE", `/folders/${folder}`)).status).toBe(204);
  expect((await search({ filters: { id } })).body.total_items).toBe(0);
});
