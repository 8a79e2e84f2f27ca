/** Files of vector stores by OpenAI's client: documents that share their bytes. */
import { NotFoundError, type OpenAI } from "openai";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { call, ended, fileForm } from "../../../support/clients/client.ts";
import { openAi, raised, textFile } from "../../../support/clients/openai.ts";
import { onSharedStack } from "../../../support/stack/shared-stack.ts";
import { until } from "../../../support/until.ts";

const { stack, tenants } = onSharedStack();
const FAST = { pollIntervalMs: 50 };
const UNKNOWN = "0".repeat(31) + "1";
const hex = (uuid: string): string => uuid.replaceAll("-", "");

let client: OpenAI;
beforeAll(() => {
  client = openAi(stack.url, tenants.keys.owner);
});
afterEach(() => stack.provider.clearFaults());

const put = (text: string, name = "note.md") =>
  client.files.create({ file: textFile(text, name), purpose: "assistants" });
const inResearch = (more: Omit<OpenAI.VectorStoreCreateParams, "metadata"> = {}) =>
  client.vectorStores.create({ ...more, metadata: { space_id: tenants.spaces.research } });

describe("a file in a store", () => {
  it("is added, polled, found, changed, read and removed by every method of the client", async () => {
    const store = await client.vectorStores.create({ name: "Animals" });
    const file = await put("Otters sleep in the river.\n\nThey hold hands.", "otters.md");
    const added = await client.vectorStores.files.createAndPoll(
      store.id,
      {
        file_id: file.id,
        attributes: { year: 2026, kind: "mammal", wild: true },
        chunking_strategy: {
          type: "static",
          static: { max_chunk_size_tokens: 200, chunk_overlap_tokens: 100 },
        },
      },
      FAST,
    );
    expect(added).toMatchObject({
      id: file.id,
      object: "vector_store.file",
      vector_store_id: store.id,
      status: "completed",
      last_error: null,
      usage_bytes: file.bytes,
      attributes: { year: 2026, kind: "mammal", wild: true },
      chunking_strategy: {
        type: "static",
        static: { max_chunk_size_tokens: 200, chunk_overlap_tokens: 100 },
      },
    });
    const at = { vector_store_id: store.id };
    expect(await client.vectorStores.files.retrieve(file.id, at)).toEqual(added);
    const changed = await client.vectorStores.files.update(file.id, { ...at, attributes: { year: 2027 } });
    expect(changed.attributes).toEqual({ year: 2027 });
    const content = await client.vectorStores.files.content(file.id, at);
    expect(content.data.map(({ type }) => type)).toContain("text");
    expect(content.data.map(({ text }) => text).join("\n")).toContain("They hold hands.");
    const again = `file-${hex((added as unknown as { document_id: string }).document_id)}`;
    expect((await client.vectorStores.files.create(store.id, { file_id: again })).id).toBe(file.id);
    const uploaded = await client.vectorStores.files.uploadAndPoll(store.id, textFile("Bees dance."), FAST);
    expect(uploaded.status).toBe("completed");
    const other = await client.vectorStores.files.upload(store.id, textFile("Ants walk."));
    await client.vectorStores.files.poll(store.id, other.id, FAST);
    const listed: string[] = [];
    for await (const one of client.vectorStores.files.list(store.id, { order: "asc", limit: 1 }))
      listed.push(one.id);
    expect(listed).toEqual([file.id, uploaded.id, other.id]);
    const back = await client.vectorStores.files.list(store.id, { order: "asc", before: other.id, limit: 1 });
    expect(back.data.map(({ id }) => id)).toEqual([uploaded.id]);
    expect(await client.vectorStores.retrieve(store.id)).toMatchObject({
      status: "completed",
      file_counts: { completed: 3, total: 3 },
      usage_bytes: file.bytes + 11 + 10,
    });
    expect(await client.vectorStores.files.delete(file.id, at)).toEqual({
      id: file.id,
      object: "vector_store.file.deleted",
      deleted: true,
    });
    expect(await raised(client.vectorStores.files.retrieve(file.id, at))).toBeInstanceOf(NotFoundError);
    expect((await client.files.retrieve(file.id)).id).toBe(file.id);
  });

  it("says to clients that wait when to ask again, until it has ended", async () => {
    const store = await client.vectorStores.create({});
    const file = await put("Slow to be embedded.");
    stack.provider.failEmbeddings({ status: 503 });
    const { id } = await client.vectorStores.files.create(store.id, { file_id: file.id });
    const at = { vector_store_id: store.id };
    const after = async () => {
      const { response } = await client.vectorStores.files.retrieve(id, at).withResponse();
      return response.headers.get("openai-poll-after-ms");
    };
    expect(await after()).toBe("500");
    stack.provider.clearFaults();
    await client.vectorStores.files.poll(store.id, id, FAST);
    expect(await after()).toBeNull();
  });

  it("shares the stored bytes with its other stores, whichever is deleted first", async () => {
    const file = await put("Shared by two stores.", "shared.md");
    const [one, two] = [
      await client.vectorStores.create({ file_ids: [file.id] }),
      await inResearch({ file_ids: [file.id] }),
    ];
    for (const { id } of [one, two]) await client.vectorStores.files.poll(id, file.id, FAST);
    const { rows } = await stack.database.db.owner.query<{ object_key: string; count: number }>(
      "select object_key, count(*)::int from raw_files where path like '%/original/shared.md' group by object_key",
    );
    expect(rows).toMatchObject([{ count: 2 }]);
    await client.vectorStores.delete(one.id);
    await until("the store is purged", async () => {
      const left = await stack.database.db.owner.query("select from folders where id = $1", [
        one.id.slice(3).replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-"),
      ]);
      return left.rowCount === 0;
    });
    expect(await (await client.files.content(file.id)).text()).toBe("Shared by two stores.");
    // The document goes on with the bytes after its file is deleted elsewhere, and can be processed again.
    const at = { vector_store_id: two.id };
    const { document_id: documentId } = (await client.vectorStores.files.retrieve(
      file.id,
      at,
    )) as unknown as {
      document_id: string;
    };
    await call(stack.url, tenants.keys.owner, "POST", `/data/${documentId}/reprocess`);
    expect((await client.vectorStores.files.poll(two.id, file.id, FAST)).status).toBe("completed");
  });

  it("can be a document of another folder, whose bytes outlive that document and its raw file", async () => {
    const owner = (method: string, path: string, body?: unknown) =>
      call(stack.url, tenants.keys.owner, method, path, body);
    const form = fileForm("Lent bytes.", "lent.md", { space_id: tenants.spaces.research });
    const document = (await owner("POST", "/data/upload", form)).body;
    await ended(stack.url, tenants.keys.owner, document.id);
    const store = await client.vectorStores.create({});
    const file = await client.vectorStores.files.createAndPoll(
      store.id,
      { file_id: `file-${hex(document.id)}` },
      FAST,
    );
    expect(file.status).toBe("completed");
    const path = encodeURIComponent(document.file_path);
    expect((await owner("DELETE", `/spaces/${tenants.spaces.research}/data/files?path=${path}`)).status).toBe(
      204,
    );
    await until("the document is purged", async () => {
      const left = await stack.database.db.owner.query("select from documents where id = $1", [document.id]);
      return left.rowCount === 0;
    });
    expect(await (await client.files.content(file.id)).text()).toBe("Lent bytes.");
  });

  it("ends failed with a published code, and is processed again when it is added again", async () => {
    const store = await client.vectorStores.create({});
    const empty = await client.vectorStores.files.uploadAndPoll(store.id, textFile("", "empty.md"), FAST);
    expect(empty).toMatchObject({ status: "failed", last_error: { code: "invalid_file" } });
    const bytes = new File([new Uint8Array([0, 1, 2, 255, 254, 0, 3])], "what.bin");
    const unknown = await client.vectorStores.files.uploadAndPoll(store.id, bytes, FAST);
    expect(unknown).toMatchObject({ status: "failed", last_error: { code: "unsupported_file" } });
    const failed = await client.vectorStores.files.list(store.id, { filter: "failed" });
    expect(failed.data).toHaveLength(2);
    expect((await client.vectorStores.files.list(store.id, { filter: "completed" })).data).toEqual([]);
    const again = await client.vectorStores.files.create(store.id, {
      file_id: empty.id,
      attributes: { n: 1 },
    });
    expect(again).toMatchObject({ status: "in_progress", attributes: { n: 1 } });
    expect((await client.vectorStores.files.poll(store.id, empty.id, FAST)).status).toBe("failed");
    expect((await client.vectorStores.retrieve(store.id)).file_counts).toMatchObject({ failed: 2, total: 2 });
  });

  it("is in progress while it waits for an outage, and says so", async () => {
    stack.provider.failEmbeddings({ status: 503 });
    const store = await client.vectorStores.create({});
    const file = await put(`Waits for the provider ${Date.now()}.`);
    await client.vectorStores.files.create(store.id, { file_id: file.id });
    const at = { vector_store_id: store.id };
    await until("the file says so", async () => {
      const state = await client.vectorStores.files.retrieve(file.id, at);
      return "waiting_for" in state && state.waiting_for !== null ? state : undefined;
    }).then((state) =>
      expect(state).toMatchObject({
        status: "in_progress",
        last_error: null,
        waiting_for: "provider_unavailable",
        waiting_since: expect.any(Number),
      }),
    );
    expect((await client.vectorStores.retrieve(store.id)).status).toBe("in_progress");
    stack.provider.clearFaults();
    expect((await client.vectorStores.files.poll(store.id, file.id, FAST)).status).toBe("completed");
  });

  it("takes attributes within the published bounds alone", async () => {
    const store = await client.vectorStores.create({});
    const { id } = await put("Bounded.");
    const add = (attributes: unknown) =>
      call(stack.url, tenants.keys.owner, "POST", `/vector_stores/${store.id}/files`, {
        file_id: id,
        attributes,
      });
    const pairs = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, n]));
    for (const attributes of [
      pairs(17),
      { ["k".repeat(65)]: 1 },
      { k: "v".repeat(513) },
      { k: null },
      { k: { nested: true } },
      { k: [1] },
      [],
    ])
      expect((await add(attributes)).status).toBe(400);
    const widest = Object.fromEntries(
      Array.from({ length: 16 }, (_, n) => [`${n}`.padEnd(64, "k"), "v".repeat(512)]),
    );
    expect(await add(widest)).toMatchObject({ status: 200, body: { attributes: widest } });
    expect(
      await raised(client.vectorStores.files.create(store.id, { file_id: `file-${UNKNOWN}` })),
    ).toMatchObject({
      status: 404,
      param: "file_id",
    });
  });
});
