/** Vector stores by OpenAI's client: folders with documents. */
import { type OpenAI, BadRequestError, NotFoundError, PermissionDeniedError } from "openai";
import { beforeAll, describe, expect, it } from "vitest";
import { call, ended, fileForm } from "../../../support/clients/client.ts";
import { openAi, raised, textFile } from "../../../support/clients/openai.ts";
import { onSharedStack } from "../../../support/stack/shared-stack.ts";

const { stack, tenants } = onSharedStack();
const UNKNOWN = "0".repeat(31) + "1";
const hex = (uuid: string): string => uuid.replaceAll("-", "");

let client: OpenAI;
let viewer: OpenAI;
beforeAll(() => {
  client = openAi(stack.url, tenants.keys.owner);
  viewer = openAi(stack.url, tenants.keys.viewer);
});

const put = (text: string, name = "note.md") =>
  client.files.create({ file: textFile(text, name), purpose: "assistants" });
const inResearch = (more: Omit<OpenAI.VectorStoreCreateParams, "metadata"> = {}) =>
  client.vectorStores.create({ ...more, metadata: { space_id: tenants.spaces.research } });

describe("a store", () => {
  it("is created, found, changed, listed and deleted by every method of the client", async () => {
    const made = await client.vectorStores.create({
      name: "Manuals / 2026",
      description: "Of all machines",
      metadata: { team: "service" },
      expires_after: { anchor: "last_active_at", days: 7 },
    });
    expect(made).toMatchObject({
      id: expect.stringMatching(/^vs_[0-9a-f]{32}$/),
      object: "vector_store",
      name: "Manuals / 2026",
      description: "Of all machines",
      status: "completed",
      usage_bytes: 0,
      file_counts: { in_progress: 0, completed: 0, failed: 0, cancelled: 0, total: 0 },
      metadata: { team: "service" },
      expires_after: { anchor: "last_active_at", days: 7 },
    });
    expect(made.expires_at! - made.last_active_at!).toBe(7 * 86_400);
    expect(await client.vectorStores.retrieve(made.id)).toEqual(made);
    const changed = await client.vectorStores.update(made.id, {
      name: "Handbooks",
      metadata: { team: "sales" },
      expires_after: null,
    });
    expect(changed).toMatchObject({ name: "Handbooks", metadata: { team: "sales" }, expires_at: null });
    const ids: string[] = [];
    for await (const store of client.vectorStores.list({ limit: 1, order: "asc" })) ids.push(store.id);
    expect(ids).toContain(made.id);
    expect(await client.vectorStores.delete(made.id)).toEqual({
      id: made.id,
      object: "vector_store.deleted",
      deleted: true,
    });
    expect(await raised(client.vectorStores.retrieve(made.id))).toBeInstanceOf(NotFoundError);
    expect(await raised(client.vectorStores.delete(made.id))).toBeInstanceOf(NotFoundError);
    expect(await raised(client.vectorStores.search(made.id, { query: "x" }))).toBeInstanceOf(NotFoundError);
    expect(await raised(client.vectorStores.files.list(made.id))).toBeInstanceOf(NotFoundError);
  });

  it("counts each query of a search as a request", async () => {
    const { id } = await client.vectorStores.create({});
    const left = async (query: string | string[]) => {
      const { response } = await client.vectorStores.search(id, { query }).withResponse();
      return Number(response.headers.get("ratelimit-remaining"));
    };
    const before = await left("one");
    expect(before - (await left(["one", "two", "three"]))).toBe(3);
  });

  it("is a folder of the space that its metadata names, under a name of its own there", async () => {
    const [first, second] = [await inResearch({ name: "a/b" }), await inResearch({ name: "a/b" })];
    const named = async ({ id }: { id: string }) => {
      const store = await call(stack.url, tenants.keys.owner, "GET", `/vector_stores/${id}`);
      const folder = await call(stack.url, tenants.keys.owner, "GET", `/folders/${store.body.folder_id}`);
      return [store.body.name, folder.body.name, folder.body.home_space_id];
    };
    expect(await named(first)).toEqual(["a/b", "a-b", tenants.spaces.research]);
    expect(await named(second)).toEqual(["a/b", "a-b (2)", tenants.spaces.research]);
  });

  it("needs a space if the key reaches no private one, and one that it may write to", async () => {
    const narrowed = openAi(stack.url, tenants.keys.scoped);
    const without = await raised(narrowed.vectorStores.create({}));
    expect(without).toBeInstanceOf(BadRequestError);
    expect(without).toMatchObject({ param: "metadata.space_id" });
    expect(
      (await narrowed.vectorStores.create({ metadata: { space_id: tenants.spaces.archive } })).name,
    ).toBe("");
    const inSpace = (who: OpenAI, space_id: string) =>
      raised(who.vectorStores.create({ metadata: { space_id } }));
    expect(await inSpace(narrowed, tenants.spaces.research)).toBeInstanceOf(NotFoundError);
    expect(await inSpace(client, tenants.spaces.rival)).toMatchObject({
      status: 404,
      param: "metadata.space_id",
    });
    expect(await inSpace(client, "somewhere")).toMatchObject({ status: 400, param: "metadata.space_id" });
    expect(await inSpace(viewer, tenants.spaces.research)).toBeInstanceOf(PermissionDeniedError);
  });

  it("is any folder, with what people put there, which its id addresses", async () => {
    const owner = (method: string, path: string, body?: unknown) =>
      call(stack.url, tenants.keys.owner, method, path, body);
    const folder = (await owner("POST", "/folders", { name: "By hand", space_id: tenants.spaces.research }))
      .body;
    const below = { name: "Below", space_id: tenants.spaces.research, parent_folder_id: folder.id };
    const inner = (await owner("POST", "/folders", below)).body;
    const form = fileForm("Herons fish.", "herons.md", {
      space_id: tenants.spaces.research,
      folder_id: inner.id,
    });
    const document = (await owner("POST", "/data/upload", form)).body;
    await ended(stack.url, tenants.keys.owner, document.id);
    const id = `vs_${hex(folder.id)}`;
    expect(await client.vectorStores.retrieve(id)).toMatchObject({
      name: "By hand",
      file_counts: { total: 1 },
    });
    const files = await client.vectorStores.files.list(id);
    expect(files.data).toMatchObject([
      { id: `file-${hex(document.id)}`, status: "completed", chunking_strategy: { type: "other" } },
    ]);
    const [hit] = (await client.vectorStores.search(id, { query: "herons" })).data;
    expect(hit).toMatchObject({ file_id: `file-${hex(document.id)}`, filename: "herons.md" });
    // One that is changed as a store is listed as one.
    await client.vectorStores.update(id, { metadata: { kind: "birds" } });
    const listed = await client.vectorStores.list({ limit: 100 });
    expect(listed.data.find((store) => store.id === id)).toMatchObject({ metadata: { kind: "birds" } });
    await client.vectorStores.files.delete(`file-${hex(document.id)}`, { vector_store_id: id });
    expect((await owner("GET", `/data/${document.id}`)).status).toBe(404);
  });

  it("does not exist for others, and is only read by viewers", async () => {
    const store = await inResearch({ name: "Read only", file_ids: [(await put("Read me.")).id] });
    expect(await viewer.vectorStores.retrieve(store.id)).toMatchObject({ name: "Read only" });
    expect((await viewer.vectorStores.files.list(store.id)).data).toHaveLength(1);
    await viewer.vectorStores.search(store.id, { query: "read" });
    const own = await viewer.files.create({ file: textFile("Mine."), purpose: "assistants" });
    for (const change of [
      () => viewer.vectorStores.update(store.id, { name: "Mine" }),
      () => viewer.vectorStores.delete(store.id),
      () => viewer.vectorStores.files.create(store.id, { file_id: own.id }),
      () => viewer.vectorStores.fileBatches.create(store.id, { file_ids: [own.id] }),
    ])
      expect(await raised(change())).toBeInstanceOf(PermissionDeniedError);
    for (const key of [tenants.keys.rival, tenants.keys.scoped]) {
      const other = openAi(stack.url, key);
      for (const look of [
        () => other.vectorStores.retrieve(store.id),
        () => other.vectorStores.search(store.id, { query: "read" }),
        () => other.vectorStores.files.list(store.id),
        () => other.vectorStores.files.create(store.id, { file_id: own.id }),
        () => other.vectorStores.delete(store.id),
      ])
        expect(await raised(look())).toMatchObject({ status: 404, code: "vector_store_not_found" });
    }
  });

  it("is refused with OpenAI's error for what breaks the published bounds", async () => {
    const send = async (body: unknown) => call(stack.url, tenants.keys.owner, "POST", "/vector_stores", body);
    const pairs = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, "v"]));
    for (const [body, param] of [
      [{ metadata: pairs(17) }, "metadata"],
      [{ metadata: { ["k".repeat(65)]: "v" } }, `metadata.${"k".repeat(65)}`],
      [{ metadata: { k: "v".repeat(513) } }, "metadata.k"],
      [{ expires_after: { anchor: "last_active_at", days: 366 } }, "expires_after.days"],
      [{ file_ids: ["nonsense"] }, "file_ids[0]"],
      [
        {
          chunking_strategy: {
            type: "static",
            static: { max_chunk_size_tokens: 99, chunk_overlap_tokens: 0 },
          },
        },
        "chunking_strategy.static.max_chunk_size_tokens",
      ],
      [
        {
          chunking_strategy: {
            type: "static",
            static: { max_chunk_size_tokens: 100, chunk_overlap_tokens: 51 },
          },
        },
        "chunking_strategy.static.chunk_overlap_tokens",
      ],
    ] as const) {
      const answer = await send(body);
      expect(answer).toMatchObject({
        status: 400,
        body: { error: { type: "invalid_request_error", param } },
      });
    }
    expect(await send({ file_ids: [`file-${UNKNOWN}`] })).toMatchObject({
      status: 404,
      body: { error: { code: "file_not_found", param: "file_ids[0]" } },
    });
  });

  it("is made once for repeats with one Idempotency-Key", async () => {
    const send = () =>
      call(
        stack.url,
        tenants.keys.owner,
        "POST",
        "/vector_stores",
        { name: "Once" },
        { "idempotency-key": "vs" },
      );
    const first = await send();
    expect((await send()).body).toEqual(first.body);
    await client.vectorStores.delete(first.body.id);
    expect((await send()).status).toBe(404);
  });
});
