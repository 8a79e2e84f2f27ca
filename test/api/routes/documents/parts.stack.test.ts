/** The text and the chunks of a document through the HTTP API. */
import { beforeAll, describe, expect, test } from "vitest";
import { type Answer, ended } from "../../../support/clients/client.ts";
import { documentClient } from "../../../support/clients/document-client.ts";
import { onSharedStack } from "../../../support/stack/shared-stack.ts";

const { stack, tenants } = onSharedStack();
const { editor, as, put } = documentClient({ stack, tenants });
let note: Answer["body"];

const NOTE =
  "# Zebras\n\nZebras have stripes that no two of them share.\n\n- one\n- two\n\n## Food\n\nThey eat grass.";

beforeAll(async () => {
  note = await put(NOTE, "zebras.md");
});

describe("GET /data/{id}/text", () => {
  test("is an envelope of units with their headings", async () => {
    const { status, body } = await as(tenants.keys.viewer, "GET", `/data/${note.id}/text`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ page: 1, page_size: 100, total_pages: 1, total_items: 5 });
    expect(
      body.items.map((unit: { start: number; end: number }) => NOTE.slice(unit.start, unit.end)),
    ).toEqual(body.items.map((unit: { text: string }) => unit.text));
    expect(
      body.items.map(({ start: _start, end: _end, locations: _locations, ...unit }: Answer["body"]) => unit),
    ).toEqual([
      { index: 0, type: "heading", level: 1, text: "Zebras", page: null, heading_path: ["Zebras"] },
      {
        index: 1,
        type: "paragraph",
        text: "Zebras have stripes that no two of them share.",
        page: null,
        heading_path: ["Zebras"],
      },
      { index: 2, type: "list", text: "- one\n- two", page: null, heading_path: ["Zebras"] },
      { index: 3, type: "heading", level: 2, text: "Food", page: null, heading_path: ["Zebras", "Food"] },
      { index: 4, type: "paragraph", text: "They eat grass.", page: null, heading_path: ["Zebras", "Food"] },
    ]);
  });

  test("says which lines of the file each unit is", async () => {
    const { body } = await as(tenants.keys.viewer, "GET", `/data/${note.id}/text`);
    expect(body.items.map((unit: Answer["body"]) => unit.locations)).toEqual([
      [{ heading_path: ["Zebras"], lines: [1, 1] }],
      [{ heading_path: ["Zebras"], lines: [3, 3] }],
      [{ heading_path: ["Zebras"], lines: [5, 6] }],
      [{ heading_path: ["Zebras", "Food"], lines: [8, 8] }],
      [{ heading_path: ["Zebras", "Food"], lines: [10, 10] }],
    ]);
  });

  test("as Markdown is the whole text", async () => {
    const { status, body, headers } = await as(
      tenants.keys.viewer,
      "GET",
      `/data/${note.id}/text?format=markdown`,
    );
    expect(status).toBe(200);
    expect(headers.get("content-type")).toBe("text/markdown; charset=utf-8");
    expect(body).toBe(NOTE);
  });

  test("pages of a long text are cut anywhere, and the whole is streamed in order", async () => {
    const paragraphs = Array.from({ length: 2_345 }, (_, index) => `Paragraph number ${index}.`);
    const document = await put(paragraphs.join("\n\n"), "long.md");
    const page = (await editor("GET", `/data/${document.id}/text?page=4&limit=77`)).body;
    expect(page).toMatchObject({ total_items: 2_345, total_pages: 31, page: 4, page_size: 77 });
    expect(page.items.map((unit: { index: number; text: string }) => [unit.index, unit.text])).toEqual(
      Array.from({ length: 77 }, (_, index) => [231 + index, paragraphs[231 + index]]),
    );
    expect((await editor("GET", `/data/${document.id}/text?page=31&limit=77`)).body.items).toHaveLength(35);
    expect((await editor("GET", `/data/${document.id}/text?page=32&limit=77`)).body.items).toEqual([]);
    expect((await editor("GET", `/data/${document.id}/text?format=markdown`)).body).toBe(
      paragraphs.join("\n\n"),
    );
  });

  test("refuses pages and formats that there are not", async () => {
    const { status, body } = await editor("GET", `/data/${note.id}/text?page=0&limit=1001&format=html`);
    expect(status).toBe(422);
    expect(body.detail.map((problem: { loc: unknown; type: string }) => [problem.loc, problem.type])).toEqual(
      [
        [["query", "page"], "greater_than_equal"],
        [["query", "limit"], "less_than_equal"],
        [["query", "format"], "literal_error"],
      ],
    );
  });
});

test("GET /data/{id}/chunks is an envelope of chunks with what is known of their embeddings", async () => {
  const { status, body } = await as(tenants.keys.viewer, "GET", `/data/${note.id}/chunks?limit=1`);
  expect(status).toBe(200);
  expect(body.total_items).toBe(note.processing_state.chunk_count);
  expect(body.items).toEqual([
    {
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      document_id: note.id,
      chunk_index: 0,
      text: expect.stringContaining("Zebras have stripes"),
      token_count: expect.any(Number),
      page_start: null,
      page_end: null,
      start: 2,
      end: expect.any(Number),
      locations: [
        { heading_path: ["Zebras"], lines: [1, 6] },
        { heading_path: ["Zebras", "Food"], lines: [8, 10] },
      ],
      metadata: expect.objectContaining({
        heading_text: expect.any(String),
        format: "markdown",
        word_count: expect.any(Number),
      }),
      embedding: {
        model: "scripted-embedding",
        dimensions: 64,
        embedded: true,
        embedded_at: expect.stringMatching(/Z$/),
      },
    },
  ]);
});

test("GET /data/{id}/chunks shows the version before, and says which versions are not kept", async () => {
  const of = (version: number) =>
    as(tenants.keys.viewer, "GET", `/data/${changed.id}/chunks?version=${version}`);
  const changed = await put("# One\n\nThe first text.\n\n# Two\n\nThe second text.", "changed.md");
  const first = (await of(1)).body.items.map(({ text }: { text: string }) => text);
  for (const chunker of ["markdown", "fixed_tokens"])
    await editor("POST", `/data/${changed.id}/reprocess`, { chunker_name: chunker }).then(() =>
      ended(stack.url, tenants.keys.editor, changed.id),
    );
  const { body: published } = await as(tenants.keys.viewer, "GET", `/data/${changed.id}/chunks`);
  expect((await of(3)).body.items).toEqual(published.items);
  expect((await of(2)).body.items.map(({ text }: { text: string }) => text)).not.toEqual(first);
  expect((await of(1)).body.error).toMatchObject({ code: "version_not_kept" });
  expect((await of(4)).body.error).toMatchObject({ code: "version_not_found" });
});
