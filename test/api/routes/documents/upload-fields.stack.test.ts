/** What an upload's form may say of its document, through the HTTP API. */
import { describe, expect, test } from "vitest";
import { documentClient } from "../../../support/clients/document-client.ts";
import { onSharedStack } from "../../../support/stack/shared-stack.ts";

const { stack, tenants } = onSharedStack();
const { editor } = documentClient({ stack, tenants });

type Fields = readonly (readonly [name: string, value: string])[];

const send = (fields: Fields, content: string | Uint8Array<ArrayBuffer> = "Text.", filename = "note.md") => {
  const form = new FormData();
  form.append("space_id", tenants.spaces.research);
  for (const [name, value] of fields) form.append(name, value);
  form.append("file", new Blob([content]), filename);
  return editor("POST", "/data/upload", form);
};
const metadataOf = async (fields: Fields) => {
  const { status, body } = await send(fields);
  expect(status).toBe(201);
  const { original_filename: _name, content_type: _type, ...own } = body.doc_metadata;
  return own;
};

describe("doc_metadata and tags", () => {
  test("are the document's own metadata from the start, and filters find them", async () => {
    const project = `apollo ${Math.random()}`;
    const own = { project, year: 2026, owner: { name: "Ada" } };
    expect(await metadataOf([["doc_metadata", JSON.stringify({ ...own, draft: null })]])).toEqual(own);
    expect(
      await metadataOf([
        ["doc_metadata", JSON.stringify({ project })],
        ["tags", "red"],
        ["tags", "blue"],
      ]),
    ).toEqual({ project, tags: ["red", "blue"] });
    const found = await editor("POST", "/data/search", { filters: { "doc_metadata.project": project } });
    expect(found.body.total_items).toBe(2);
    const tagged = { "doc_metadata.project": project, "doc_metadata.tags__contains": "blue" };
    expect((await editor("POST", "/data/search", { filters: tagged })).body.total_items).toBe(1);
    const other = { "doc_metadata.project": project, "doc_metadata.tags__contains": "lu" };
    expect((await editor("POST", "/data/search", { filters: other })).body.total_items).toBe(0);
  });

  test("tags may also be one, or a JSON list", async () => {
    expect(await metadataOf([["tags", "only one"]])).toEqual({ tags: ["only one"] });
    expect(await metadataOf([["tags", '["a", "b"]']])).toEqual({ tags: ["a", "b"] });
  });

  test.each([
    ["doc_metadata", "{", "json_invalid"],
    ["doc_metadata", "[".repeat(30_000), "json_invalid"],
    ["doc_metadata", '{"a":'.repeat(5_000) + "1" + "}".repeat(5_000), "json_invalid"],
    ["doc_metadata", "[1]", "dict_type"],
    ["doc_metadata", '{"content_type": "text/html"}', "value_error"],
    ["doc_metadata", '{"a": "\\u0000"}', "value_error"],
    ["doc_metadata", `{"long": [${Array(4_000).fill("1e20").join(",")}]}`, "value_error"],
    ["tags", "[1]", "string_type"],
    ["tags", "[", "json_invalid"],
    ["tags", "x".repeat(257), "string_too_long"],
    ["strict", "perhaps", "bool_parsing"],
  ])("%s that cannot be is refused at its place (%#)", async (name, value, type) => {
    const { status, body } = await send([[name, value]]);
    expect([status, body.detail[0].type, body.detail[0].loc.slice(0, 2)]).toEqual([
      422,
      type,
      ["body", name],
    ]);
  });

  test("tags in both are refused", async () => {
    const { status, body } = await send([
      ["doc_metadata", '{"tags": []}'],
      ["tags", "a"],
    ]);
    expect([status, body.detail[0].loc]).toEqual([422, ["body", "tags"]]);
  });
});

describe("what a form has too much of", () => {
  const post = (parts: readonly (readonly [name: string, value: string | Blob, filename?: string])[]) => {
    const form = new FormData();
    form.append("space_id", tenants.spaces.research);
    for (const [name, value, filename] of parts)
      if (typeof value === "string") form.append(name, value);
      else form.append(name, value, filename);
    return fetch(`${stack.url}/v1/data/upload`, {
      method: "POST",
      headers: { authorization: `Bearer ${tenants.keys.editor}` },
      body: form,
    });
  };
  const one = (name: string) => ["file", new Blob([name]), name] as const;

  test("a second file is refused: none is dropped in silence", async () => {
    const answer = await post([one("one.md"), one("two.md")]);
    expect(answer.status).toBe(422);
    expect(await answer.json()).toMatchObject({
      detail: [{ type: "value_error", loc: ["body", "file"] }],
      error: { code: "invalid", param: "file" },
    });
  });

  test("a field that comes again, and one that is misspelled, are named in a Warning", async () => {
    const again = await post([
      one("again.md"),
      ["doc_metadata", '{"a": 1}'],
      ["doc_metadata", '{"b": 2}'],
      ["foldr_id", "x"],
    ]);
    expect(again.status).toBe(201);
    expect(again.headers.get("warning")).toBe(
      '199 holdfast "unknown field foldr_id; did you mean folder_id?", ' +
        '199 holdfast "doc_metadata was sent more than once; the last one is used"',
    );
    const misspelled = await post([["files", new Blob(["x"]), "x.md"]]);
    expect(misspelled.status).toBe(422);
    expect(misspelled.headers.get("warning")).toBe('199 holdfast "unknown field files; did you mean file?"');
  });
});

describe("strict", () => {
  const NOISE = Uint8Array.from({ length: 256 }, (_, at) => (at * 7919) % 256);

  test("refuses what no parser will read, and keeps nothing of it", async () => {
    const refused = await send([["strict", "true"]], NOISE, "noise.bin");
    expect(refused).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["body", "file"] }], error: { code: "unsupported_file_type", param: "file" } },
    });
    expect(await send([["strict", "true"]], "", "empty.md")).toMatchObject({
      status: 422,
      body: { error: { code: "empty_file", param: "file" } },
    });
    const { body } = await editor("POST", "/data/search", {
      filters: { "doc_metadata.original_filename__in": ["noise.bin", "empty.md"] },
    });
    expect(body.total_items).toBe(0);
  });

  test("lets through what a parser reads; without it everything is accepted", async () => {
    expect((await send([["strict", "true"]])).status).toBe(201);
    expect((await send([["strict", "false"]], NOISE, "kept.bin")).status).toBe(201);
    expect((await send([], "", "kept.md")).status).toBe(201);
  });
});
