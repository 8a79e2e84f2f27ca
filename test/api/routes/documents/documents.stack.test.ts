/** Documents through the HTTP API: who reaches one, reading and deleting it. */
import { beforeAll, describe, expect, test } from "vitest";
import { newId } from "../../../../src/domain/ids.ts";
import { type Answer, upload } from "../../../support/clients/client.ts";
import { documentClient } from "../../../support/clients/document-client.ts";
import { onSharedStack } from "../../../support/stack/shared-stack.ts";
import { until } from "../../../support/until.ts";

const { stack, tenants } = onSharedStack();
const { editor, as, put } = documentClient({ stack, tenants });
let note: Answer["body"];

const NOTE =
  "# Zebras\n\nZebras have stripes that no two of them share.\n\n- one\n- two\n\n## Food\n\nThey eat grass.";

beforeAll(async () => {
  note = await put(NOTE, "zebras.md");
});

describe("every endpoint of a document", () => {
  const endpoints = (id: string): [string, string, unknown][] => [
    ["GET", `/data/${id}`, undefined],
    ["PATCH", `/data/${id}`, {}],
    ["DELETE", `/data/${id}`, undefined],
    ["GET", `/data/${id}/text`, undefined],
    ["GET", `/data/${id}/text?format=markdown`, undefined],
    ["GET", `/data/${id}/chunks`, undefined],
    ["GET", `/data/${id}/versions`, undefined],
    ["POST", `/data/${id}/reprocess`, undefined],
    ["POST", `/data/${id}/versions/1/restore`, undefined],
  ];
  const placeholder = newId();

  test.each(endpoints(placeholder))(
    "%s %s is 404 for an id that nobody has, for another tenant and for a key out of scope",
    async (method, path, body) => {
      const missing = { status: 404, body: { detail: "Document not found" } };
      expect(await editor(method, path, body)).toMatchObject(missing);
      const real = path.replace(placeholder, note.id);
      expect(await as(tenants.keys.rival, method, real, body)).toMatchObject(missing);
      expect(await as(tenants.keys.scoped, method, real, body)).toMatchObject(missing);
    },
  );

  test.each(endpoints("not-a-uuid"))("%s %s is 422 at path, document_id", async (method, path, body) => {
    const { status, body: answer } = await editor(method, path, body);
    expect(status).toBe(422);
    expect(answer.detail).toEqual([
      expect.objectContaining({ type: "uuid_parsing", loc: ["path", "document_id"] }),
    ]);
  });

  test("a viewer reads everything, and each refusal names the missing permission", async () => {
    const denial = (permission: string) => ({
      status: 403,
      body: { detail: `Permission denied: ${permission}` },
    });
    const expected: Record<string, object> = {
      GET: { status: 200 },
      PATCH: denial("documents:update"),
      DELETE: denial("documents:delete"),
      POST: denial("documents:reprocess"),
    };
    for (const [method, path, body] of endpoints(note.id))
      expect(await as(tenants.keys.viewer, method, path, body)).toMatchObject(expected[method]!);
    expect((await editor("GET", `/data/${note.id}`)).body.version).toBe(1);
  });

  test("without credentials it is 401", async () => {
    expect((await as(null, "GET", `/data/${note.id}/chunks`)).status).toBe(401);
  });
});

describe("GET /data/{id}", () => {
  test("has every field of the contract, and an entity tag", async () => {
    const { status, body, headers } = await as(tenants.keys.viewer, "GET", `/data/${note.id}`);
    expect(status).toBe(200);
    expect(headers.get("etag")).toMatch(/^"[\w-]+"$/);
    expect(body).toMatchObject({
      id: note.id,
      file_type: "MARKDOWN",
      file_size: Buffer.byteLength(NOTE),
      file_path: `spaces/${tenants.spaces.research}/documents/${note.id}/original/zebras.md`,
      doc_metadata: { original_filename: "zebras.md", content_type: "text/markdown" },
      processing_state: {
        parsed: true,
        chunked: true,
        embedded: true,
        pipeline_status: "completed",
        parser_name: "markdown",
        chunker_name: "page_based",
        embedding_model: "scripted-embedding",
      },
      space_id: tenants.spaces.research,
      folder_id: null,
      folder_path: null,
      version: 1,
    });
    expect(body.processing_state.chunk_count).toBe(body.processing_state.embedded_chunk_count);
    expect(body.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });
});

describe("DELETE /data/{id}", () => {
  test("is 204, then 404 everywhere and out of search at once; file and vectors stay", async () => {
    const document = await put("Axolotls regrow their limbs.", "axolotl.md");
    const etag = (await editor("GET", `/data/${document.id}`)).headers.get("etag")!;
    await editor("PATCH", `/data/${document.id}`, { doc_metadata: { a: 1 } });
    expect((await editor("DELETE", `/data/${document.id}`, undefined, { "if-match": etag })).status).toBe(
      412,
    );

    const gone = await editor("DELETE", `/data/${document.id}`);
    expect(gone).toMatchObject({ status: 204, body: "" });
    const search = await editor("POST", "/data/hybrid-search", {
      query: "axolotls limbs",
      space_id: tenants.spaces.research,
      document_ids: [document.id],
    });
    expect(search.body.total_results).toBe(0);
    for (const path of ["", "/text", "/chunks", "/versions"])
      expect((await editor("GET", `/data/${document.id}${path}`)).status).toBe(404);
    expect((await editor("DELETE", `/data/${document.id}`)).status).toBe(404);
    expect((await editor("PATCH", `/data/${document.id}`, {})).status).toBe(404);
    expect((await editor("POST", `/data/${document.id}/reprocess`)).status).toBe(404);
    expect((await editor("POST", "/data/search", { filters: { id: document.id } })).body.total_items).toBe(0);

    const owner = stack.database.db.owner;
    await until(
      "its rows are purged",
      async () => (await owner.query("select from documents where id = $1", [document.id])).rowCount === 0,
    );
    expect((await owner.query("select from chunks where document_id = $1", [document.id])).rowCount).toBe(0);
    const { rowCount: files } = await owner.query(
      `select
       from raw_files
       where path like '%axolotl.md' and deleted_at is null and document_id is null`,
    );
    expect(files).toBe(1);
    const texts = stack.provider.counts.texts;
    await put("Axolotls regrow their limbs.", "axolotl again.md");
    expect(stack.provider.counts.texts).toBe(texts);
  });

  test("cancels a run that is under way and leaves nothing of it", async () => {
    stack.provider.failEmbeddings({ status: 503 });
    const accepted = await upload(
      stack.url,
      tenants.keys.editor,
      tenants.spaces.research,
      "Okapis hide in the forest.",
      "okapi.md",
    );
    await until(
      "it waits for the provider",
      async () => (await editor("GET", `/data/${accepted.id}`)).body.processing_state.chunked,
    );
    expect((await editor("DELETE", `/data/${accepted.id}`)).status).toBe(204);
    stack.provider.clearFaults();
    const owner = stack.database.db.owner;
    await until(
      "its rows are purged",
      async () => (await owner.query("select from documents where id = $1", [accepted.id])).rowCount === 0,
    );
    const { rows } = await owner.query(
      `select (select count(*)::int from chunks where document_id = $1) +
              (select count(*)::int from pipeline_runs where document_id = $1) as count`,
      [accepted.id],
    );
    expect(rows[0].count).toBe(0);
  });
});
