/**
 * Idempotency-Keys on the real stack: repeats of a request are one effect and one answer, whatever dies
 * meanwhile.
 */
import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createDirectoryStore } from "../../src/storage/stores/directory.ts";
import { call, ended, fileForm, upload } from "../support/clients/client.ts";
import { documentClient } from "../support/clients/document-client.ts";
import { onSharedStack } from "../support/stack/shared-stack.ts";
import { until } from "../support/until.ts";

const { stack, tenants } = onSharedStack();
const { rows } = documentClient({ stack, tenants });

const times = (count: number) => Array.from({ length: count }, (_, index) => index);
const put = (
  key: string,
  content: string,
  {
    filename = "note.md",
    as = tenants.keys.editor,
    path = "/data/upload",
    fields = { space_id: tenants.spaces.research } as Record<string, string>,
  } = {},
) => call(stack.url, as, "POST", path, fileForm(content, filename, fields), { "idempotency-key": key });
const post = (key: string, path: string, body?: unknown, as = tenants.keys.editor) =>
  call(stack.url, as, "POST", path, body, { "idempotency-key": key });
const countDocuments = async (name: string): Promise<number> =>
  (await rows("select count(*)::int as count from documents where name = $1", [name]))[0].count;
const countRuns = async (name: string): Promise<number> =>
  (await rows("select count(*)::int as count from pipeline_runs where file_name = $1", [name]))[0].count;
const objects = () =>
  createDirectoryStore(join(stack.dataDir, "objects")).list(tenants.acme, { limit: 1_000 });

describe("100 parallel repeats", () => {
  test("of an upload give one document, one run, one object and the same answer", async () => {
    const before = (await objects()).length;
    const answers = await Promise.all(
      times(100).map(() => put("parallel-upload", "# Once\n\nWritten once only.", { filename: "once.md" })),
    );
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([201]));
    expect(new Set(answers.map((answer) => JSON.stringify(answer.body))).size).toBe(1);
    expect(answers[0]!.body.processing_state).toEqual({ parsed: false, chunked: false, embedded: false });
    expect(await countDocuments("once.md")).toBe(1);
    expect(await countRuns("once.md")).toBe(1);
    expect(await objects()).toHaveLength(before + 1);
    await ended(stack.url, tenants.keys.editor, answers[0]!.body.id);
    // A later repeat gets the first answer, not the present state.
    expect(
      await put("parallel-upload", "# Once\n\nWritten once only.", { filename: "once.md" }),
    ).toMatchObject({ status: 201, body: answers[0]!.body });
  });

  test("of an upload to a path give one version", async () => {
    const path = `/spaces/${tenants.spaces.research}/data/upload`;
    const answers = await Promise.all(
      times(100).map(() =>
        put("parallel-path", "At a path.", { filename: "path.md", path, fields: { path: "notes" } }),
      ),
    );
    expect(new Set(answers.map((answer) => `${answer.status} ${JSON.stringify(answer.body)}`)).size).toBe(1);
    expect(answers[0]!.status).toBe(201);
    expect(await countRuns("path.md")).toBe(1);
  });

  test("of a reprocess give one run", async () => {
    const { id } = await upload(
      stack.url,
      tenants.keys.editor,
      tenants.spaces.research,
      "Again and again.",
      "again.md",
    );
    await ended(stack.url, tenants.keys.editor, id);
    const answers = await Promise.all(
      times(100).map(() => post("parallel-reprocess", `/data/${id}/reprocess`)),
    );
    expect(new Set(answers.map((answer) => `${answer.status} ${JSON.stringify(answer.body)}`)).size).toBe(1);
    expect(answers[0]!.status).toBe(202);
    expect(await countRuns("again.md")).toBe(2);
  });

  test("of a batch give one batch", async () => {
    const { id } = await upload(
      stack.url,
      tenants.keys.editor,
      tenants.spaces.research,
      "In a batch.",
      "batch.md",
    );
    await ended(stack.url, tenants.keys.editor, id);
    const answers = await Promise.all(
      times(100).map(() => post("parallel-batch", "/data/batch-reprocess", { document_ids: [id] })),
    );
    expect(new Set(answers.map((answer) => `${answer.status} ${JSON.stringify(answer.body)}`)).size).toBe(1);
    expect(answers[0]!.status).toBe(202);
    expect(await rows("select id from batches where organization_id = $1", [tenants.acme])).toHaveLength(1);
    expect(await countRuns("batch.md")).toBe(2);
  });
});

describe("a key that was used with another request is refused with 422", () => {
  const refused = {
    status: 422,
    body: { detail: [expect.objectContaining({ loc: ["header", "idempotency-key"] })] },
  };

  test.each([
    ["another file", { content: "other" }],
    ["another filename", { filename: "other.md" }],
    [
      "another field",
      { fields: { space_id: tenants.spaces.research, folder_id: "01900000-0000-7000-8000-00000000ffff" } },
    ],
  ])(
    "%s",
    async (
      what,
      { content = "same", ...rest }: { content?: string; filename?: string; fields?: Record<string, string> },
    ) => {
      expect((await put(`differs ${what}`, "same")).status).toBe(201);
      const before = (await objects()).length;
      expect(await put(`differs ${what}`, content, rest)).toMatchObject(refused);
      expect(await objects()).toHaveLength(before);
    },
  );

  test("another JSON body, and another document", async () => {
    const [one, other] = await Promise.all(
      ["one.md", "other.md"].map((name) =>
        upload(stack.url, tenants.keys.editor, tenants.spaces.research, name, name),
      ),
    );
    expect((await post("json", `/data/${one.id}/reprocess`)).status).toBe(202);
    expect(await post("json", `/data/${one.id}/reprocess`, { chunker_name: "sentence" })).toMatchObject(
      refused,
    );
    expect(await post("json", `/data/${other.id}/reprocess`)).toMatchObject(refused);
  });

  test("but another caller, and the same caller on another route, has keys of their own", async () => {
    const [mine, theirs] = [
      await put("shared", "mine"),
      await put("shared", "theirs", { as: tenants.keys.owner }),
    ];
    expect([mine.status, theirs.status]).toEqual([201, 201]);
    expect(mine.body.id).not.toBe(theirs.body.id);
    expect((await post("shared", `/data/${mine.body.id}/reprocess`)).status).toBe(202);
  });
});

describe("what is kept", () => {
  test("a key older than 24 hours is new again", async () => {
    const first = await put("old", "aged", { filename: "aged.md" });
    await rows("update idempotency_keys set claimed_at = now() - interval '25 hours' where key = 'old'");
    const second = await put("old", "something else", { filename: "aged.md" });
    expect(second.status).toBe(201);
    expect(second.body.id).not.toBe(first.body.id);
  });

  test("a refusal that a repeat would meet again, not one that may pass", async () => {
    expect((await put("refused", "text", { fields: { space_id: "nonsense" } })).status).toBe(422);
    expect((await put("refused", "text")).body.detail[0].loc).toEqual(["header", "idempotency-key"]);
    expect((await put("forbidden", "text", { as: tenants.keys.viewer })).status).toBe(403);
    expect(await rows("select from idempotency_keys where key = 'forbidden'")).toEqual([]);
  });

  test("an outage is not: the same key succeeds once it is over", async () => {
    const folder = join(stack.dataDir, "objects");
    await rename(folder, `${folder}.away`);
    await writeFile(folder, "");
    expect((await put("outage", "later", { filename: "later.md" })).status).toBe(503);
    await rename(folder, `${folder}.file`);
    await rename(`${folder}.away`, folder);
    expect((await put("outage", "later", { filename: "later.md" })).status).toBe(201);
    expect(await countDocuments("later.md")).toBe(1);
  });
});

describe("a repeat is answered with the rights of now", () => {
  test("a document or file that was deleted since is 404", async () => {
    const path = `/spaces/${tenants.spaces.research}/data/upload`;
    const again = {
      document: () => put("gone-document", "gone"),
      file: () => put("gone-file", "gone", { filename: "gone.md", path, fields: { path: "" } }),
    };
    const document = await again.document();
    const reprocess = () => post("gone-reprocess", `/data/${document.body.id}/reprocess`);
    for (const repeat of [again.file, reprocess]) expect((await repeat()).status).toBeLessThan(300);
    await call(stack.url, tenants.keys.editor, "DELETE", `/data/${document.body.id}`);
    await call(
      stack.url,
      tenants.keys.editor,
      "DELETE",
      `/spaces/${tenants.spaces.research}/data/files?path=gone.md`,
    );
    for (const repeat of [again.document, reprocess])
      expect(await repeat()).toMatchObject({ status: 404, body: { detail: "Document not found" } });
    expect(await again.file()).toMatchObject({ status: 404, body: { detail: "File not found" } });
  });

  test("a caller who lost the space gets 404, and one who may still read there 403", async () => {
    const { research } = tenants.spaces;
    const requests = async (as: string): Promise<(() => ReturnType<typeof call>)[]> => {
      const document = () => put("rights-document", "mine", { as });
      const { id } = (await document()).body;
      return [
        document,
        () =>
          put("rights-file", "mine", {
            as,
            filename: `${as}.md`,
            path: `/spaces/${research}/data/upload`,
            fields: { path: "rights" },
          }),
        () => post("rights-reprocess", `/data/${id}/reprocess`, undefined, as),
        () => post("rights-batch", "/data/batch-reprocess", { document_ids: [id] }, as),
        () => put("rights-refused", "mine", { as, fields: { space_id: research, folder_id: "nonsense" } }),
      ];
    };
    const [lost, reading] = [await requests(tenants.keys.editor), await requests(tenants.keys.owner)];
    for (const send of [...lost, ...reading]) expect((await send()).status).not.toBe(404);
    const before = await rows("select * from space_members where space_id = $1", [research]);
    try {
      await rows("delete from space_members where space_id = $1 and role = 'editor'", [research]);
      await rows("update space_members set role = 'viewer' where space_id = $1", [research]);
      for (const [at, send] of lost.entries())
        await until(
          `repeat ${at} of who lost the space is refused`,
          async () => (await send()).status === 404,
        );
      for (const [at, send] of reading.entries())
        await until(
          `repeat ${at} of who may only read is refused`,
          async () => (await send()).status === 403,
        );
    } finally {
      await rows("delete from space_members where space_id = $1", [research]);
      await rows(
        "insert into space_members select * from jsonb_populate_recordset(null::space_members, $1)",
        [JSON.stringify(before)],
      );
    }
  });
});
