/** The history of a document and the way back in it, through the HTTP API, on the real pipeline. */
import { afterEach, describe, expect, test } from "vitest";
import { fileForm } from "../../support/clients/client.ts";
import { documentClient, longText } from "../../support/clients/document-client.ts";
import { onSharedStack } from "../../support/stack/shared-stack.ts";
import { until } from "../../support/until.ts";

const { stack, tenants } = onSharedStack();

afterEach(() => stack.provider.clearFaults());

const { as, editor, end, versions, reprocess, hits, put, putWaiting } = documentClient({ stack, tenants });

describe("versions", () => {
  test("are the history, newest first, with who asked for what", async () => {
    const document = await put("Bitterns boom.", "bittern.md");
    await as(tenants.keys.owner, "POST", `/data/${document.id}/reprocess`, { chunker_name: "sentence" });
    await end(document.id);
    const { status, body } = await as(tenants.keys.viewer, "GET", `/data/${document.id}/versions`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ total_items: 2, page: 1, page_size: 100 });
    expect(body.items[0]).toEqual({
      version: 2,
      pipeline_run_id: expect.any(String),
      trigger: "reprocess",
      status: "completed",
      parser_name: "markdown",
      chunker_name: "sentence",
      embedding_model: "scripted-embedding",
      chunk_count: 1,
      embedded_chunk_count: 1,
      error: null,
      created_by: { id: expect.any(String), name: "Ada Owner", avatar_url: null },
      created_at: expect.stringMatching(/Z$/),
      started_at: expect.stringMatching(/Z$/),
      completed_at: expect.stringMatching(/Z$/),
      is_current: true,
    });
    expect(body.items[1]).toMatchObject({
      version: 1,
      trigger: "upload",
      chunker_name: "page_based",
      created_by: { name: "Eve Editor" },
      is_current: false,
    });
    expect(
      (await as(tenants.keys.viewer, "GET", `/data/${document.id}/versions?limit=1&page=2`)).body.items[0]
        .version,
    ).toBe(1);
  });
});

describe("restore", () => {
  const restore = (id: string, version: number | string) =>
    editor("POST", `/data/${id}/versions/${version}/restore`);
  const texts = async (id: string): Promise<string[]> =>
    (await editor("GET", `/data/${id}/chunks?limit=1000`)).body.items.map(
      (chunk: { text: string }) => chunk.text,
    );

  test("publishes the version before as a new one, without parsing or embedding", async () => {
    const document = await put(longText("ruff"), "ruff.md");
    const before = await texts(document.id);
    await reprocess(document.id, { chunker_name: "fixed_tokens", chunker_config: { max_tokens: 60 } });
    await end(document.id);
    expect(await texts(document.id)).not.toEqual(before);
    const embedded = stack.provider.counts.texts;
    const { status, body } = await restore(document.id, 1);
    expect(status).toBe(202);
    expect(body).toEqual({ document_id: document.id, pipeline_run_id: expect.any(String), status: "queued" });
    expect(await end(document.id)).toMatchObject({
      version: 3,
      processing_state: {
        chunker_name: "page_based",
        chunk_count: before.length,
        embedded_chunk_count: before.length,
      },
    });
    expect(await texts(document.id)).toEqual(before);
    expect((await editor("GET", `/data/${document.id}/text?format=markdown`)).body).toBe(longText("ruff"));
    expect(stack.provider.counts.texts).toBe(embedded);
    expect((await hits(document.id, "ruff says")).total_results).toBe(before.length);
    expect(
      (await versions(document.id)).map((version) => [version.version, version.trigger, version.is_current]),
    ).toEqual([
      [3, "restore", true],
      [2, "reprocess", false],
      [1, "upload", false],
    ]);
  });

  test("brings back the text of a file that was replaced", async () => {
    const first = "The old text.";
    const form = () => fileForm(first, "plan.md", { path: "" });
    const uploaded = await editor("POST", `/spaces/${tenants.spaces.research}/data/upload`, form());
    expect(uploaded.status).toBe(201);
    const listed = await editor("GET", `/spaces/${tenants.spaces.research}/data/files?prefix=plan.md`);
    const id: string = listed.body.items[0].document_id;
    await end(id);
    await editor(
      "POST",
      `/spaces/${tenants.spaces.research}/data/upload`,
      fileForm("The new text.", "plan.md", { path: "" }),
    );
    await until("the new text is published", async () => (await texts(id))[0] === "The new text.");
    expect((await restore(id, 1)).status).toBe(202);
    await until("the old text is published", async () => (await texts(id))[0] === first);
  });

  test("says so if it is published, was never published, is gone or never was", async () => {
    const { id } = await putWaiting("turnstone");
    expect(await restore(id, 1)).toMatchObject({
      status: 400,
      body: { detail: "Version 1 is the published one." },
    });
    expect(await restore(id, 2)).toMatchObject({
      status: 400,
      body: { detail: "Version 2 was never published, so it cannot be restored." },
    });
    expect(await restore(id, 3)).toMatchObject({ status: 404, body: { detail: "Version not found" } });
    for (const wrong of ["0", "x", "99999999999"])
      expect((await restore(id, wrong)).body.detail[0].loc).toEqual(["path", "version"]);
    // A refusal leaves the run that is under way alone.
    expect((await editor("GET", `/data/${id}`)).body.processing_state.pipeline_status).toBe("embedding");
    stack.provider.clearFaults();
    await end(id);
    await stack.database.db.owner.query(
      `delete from chunks as chunk
       using pipeline_runs as run
       where run.num = chunk.run_num
         and run.document_id = $1
         and run.version = 1`,
      [id],
    );
    expect(await restore(id, 1)).toMatchObject({
      status: 400,
      body: { detail: expect.stringMatching(/^The text of version 1 is no longer kept/) },
    });
    expect(await end(id)).toMatchObject({ version: 2 });
  });

  test("is 403 for a viewer", async () => {
    const { id } = await put("Phalaropes.", "phalarope.md");
    expect(await as(tenants.keys.viewer, "POST", `/data/${id}/versions/1/restore`)).toMatchObject({
      status: 403,
      body: { detail: "Permission denied: documents:reprocess" },
    });
  });
});
