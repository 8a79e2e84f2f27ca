/** Changes of documents through the HTTP API: PATCH /data/{document_id}. */
import { beforeAll, expect, test } from "vitest";
import { newId } from "../../../../src/domain/ids.ts";
import type { Answer } from "../../../support/clients/client.ts";
import { documentClient } from "../../../support/clients/document-client.ts";
import { onSharedStack } from "../../../support/stack/shared-stack.ts";
import { until } from "../../../support/until.ts";

const { stack, tenants } = onSharedStack();
const { editor, as, put } = documentClient({ stack, tenants });
let note: Answer["body"];

beforeAll(async () => {
  note = await put("# Zebras\n\nZebras have stripes that no two of them share.", "zebras.md");
});

const folder = async (
  name: string,
  spaceId = tenants.spaces.research,
  key = tenants.keys.editor,
): Promise<string> => (await as(key, "POST", "/folders", { name, space_id: spaceId })).body.id;

const patch = (body: unknown, headers?: Record<string, string>, id = note.id) =>
  editor("PATCH", `/data/${id}`, body, headers);

test("merges metadata as RFC 7396 says: null removes, objects merge, the rest replaces", async () => {
  const document = await put("Metadata lives here.", "metadata.md");
  await patch(
    {
      doc_metadata: {
        project: "apollo",
        tags: ["a", "b"],
        owner: { name: "Ada", team: "red" },
        draft: true,
      },
    },
    {},
    document.id,
  );
  const { status, body } = await patch(
    {
      doc_metadata: {
        tags: ["c"],
        owner: { team: null, floor: { number: 2 } },
        draft: null,
        empty: { gone: null },
        __proto__x: 1,
      },
    },
    {},
    document.id,
  );
  expect(status).toBe(200);
  expect(body.doc_metadata).toEqual({
    original_filename: "metadata.md",
    content_type: "text/markdown",
    project: "apollo",
    tags: ["c"],
    owner: { name: "Ada", floor: { number: 2 } },
    empty: {},
    __proto__x: 1,
  });
  expect((await editor("GET", `/data/${document.id}`)).body.doc_metadata).toEqual(body.doc_metadata);
  expect(body.processing_state).toEqual(document.processing_state);
  expect((await editor("GET", `/data/${document.id}/versions`)).body.total_items).toBe(1);
});

test("refuses what is read-only, of the wrong type or too large, all at once", async () => {
  const { status, body } = await patch({
    doc_metadata: { original_filename: "x", content_type: null, seen: 1 },
    folder_id: null,
  });
  expect([status, body.detail.map((problem: { loc: unknown }) => problem.loc)]).toEqual([
    422,
    [
      ["body", "doc_metadata", "original_filename"],
      ["body", "doc_metadata", "content_type"],
    ],
  ]);
  expect((await patch({ folder_id: 7 })).body.detail).toMatchObject([{ loc: ["body", "folder_id"] }]);
  expect((await patch({ doc_metadata: [] })).body.detail[0]).toMatchObject({
    type: "dict_type",
    loc: ["body", "doc_metadata"],
  });
  expect((await patch({ doc_metadata: null })).status).toBe(422);
  expect((await patch({ doc_metadata: { big: "x".repeat(70_000) } })).status).toBe(422);
  expect((await patch(undefined)).status).toBe(422);
  expect((await patch("{")).body.detail[0].type).toBe("json_invalid");
});

test("metadata as a whole stays bounded", async () => {
  const document = await put("Bounded.", "bounded.md");
  expect((await patch({ doc_metadata: { a: "x".repeat(40_000) } }, {}, document.id)).status).toBe(200);
  expect(
    (await patch({ doc_metadata: { b: "x".repeat(40_000) } }, {}, document.id)).body.detail[0].loc,
  ).toEqual(["body", "doc_metadata"]);
});

test("takes the entity tag that GET gave, once", async () => {
  const etag = (await editor("GET", `/data/${note.id}`)).headers.get("etag")!;
  const changed = await patch({ doc_metadata: { seen: 1 } }, { "if-match": etag });
  expect(changed.status).toBe(200);
  expect(changed.headers.get("etag")).not.toBe(etag);
  expect(await patch({ doc_metadata: { seen: 2 } }, { "if-match": etag })).toMatchObject({
    status: 412,
    body: { detail: "The resource has changed since it was read." },
  });
  expect((await patch({ doc_metadata: { seen: 3 } }, { "if-match": "*" })).status).toBe(200);
  expect((await editor("GET", `/data/${note.id}`)).body.doc_metadata.seen).toBe(3);
});

test("changes at the same time are all kept", async () => {
  const document = await put("Many hands.", "hands.md");
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, index) =>
      patch({ doc_metadata: { [`key${index}`]: index } }, {}, document.id),
    ),
  );
  expect(answers.map((answer) => answer.status)).toEqual(Array(10).fill(200));
  expect(Object.keys((await editor("GET", `/data/${document.id}`)).body.doc_metadata)).toHaveLength(12);
});

test("moves into a folder and back to the root; hits carry the path", async () => {
  const outer = await folder("Reports");
  const inner = (
    await editor("POST", "/folders", {
      name: "2026",
      space_id: tenants.spaces.research,
      parent_folder_id: outer,
    })
  ).body.id;
  const document = await put("Quokkas smile at visitors.", "quokka.md");
  const moved = await patch({ folder_id: inner }, {}, document.id);
  expect(moved).toMatchObject({ status: 200, body: { folder_id: inner, folder_path: "Reports/2026" } });
  const hits = await editor("POST", "/data/hybrid-search", {
    query: "quokkas smile",
    space_id: tenants.spaces.research,
    folder_ids: [outer],
  });
  expect(hits.body.results[0]).toMatchObject({ document_id: document.id, folder_path: "Reports/2026" });
  expect((await patch({ folder_id: null }, {}, document.id)).body).toMatchObject({
    folder_id: null,
    folder_path: null,
  });
});

test("a folder of another space is 400, one that is not reached 404, and nothing changes", async () => {
  const document = await put("Stays where it is.", "stays.md", tenants.spaces.research, tenants.keys.owner);
  const archive = await folder("Old", tenants.spaces.archive, tenants.keys.owner);
  const move = { folder_id: archive, doc_metadata: { moved: true } };
  expect(await as(tenants.keys.owner, "PATCH", `/data/${document.id}`, move)).toMatchObject({
    status: 400,
    body: { detail: "The folder belongs to another space." },
  });
  expect(await as(tenants.keys.editor, "PATCH", `/data/${document.id}`, move)).toMatchObject({
    status: 404,
    body: { detail: "Folder not found" },
  });
  expect(
    await as(tenants.keys.editor, "PATCH", `/data/${document.id}`, { folder_id: newId() }),
  ).toMatchObject({ status: 404 });
  expect((await editor("GET", `/data/${document.id}`)).body.doc_metadata.moved).toBeUndefined();
});

test("is in the audit log with the key and the request", async () => {
  const { headers } = await patch({ doc_metadata: { audited: true } });
  const { rows } = await stack.database.db.owner.query(
    "select * from audit_log where action = 'documents:update' and request_id = $1",
    [headers.get("x-request-id")],
  );
  expect(rows).toEqual([
    expect.objectContaining({
      resource_type: "document",
      resource_id: note.id,
      space_id: tenants.spaces.research,
      auth_method: "api_key",
      outcome: "success",
    }),
  ]);
});

test("a refusal is in the audit log too", async () => {
  await as(tenants.keys.viewer, "PATCH", `/data/${note.id}`, {});
  // It may be counted in the row of one before.
  await until("the refusal is written", async () => {
    const { rows } = await stack.database.db.owner.query(
      `select
       from audit_log
       where action = 'documents:update'
         and resource_id = $1
         and starts_with(outcome, 'denied {"code":"permission_denied"')`,
      [note.id],
    );
    return rows.length > 0;
  });
});
