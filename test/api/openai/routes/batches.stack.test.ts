/** File batches and searches of vector stores by OpenAI's client. */
import { type OpenAI, BadRequestError, NotFoundError } from "openai";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { call } from "../../../support/clients/client.ts";
import { openAi, raised, textFile } from "../../../support/clients/openai.ts";
import { onSharedStack } from "../../../support/stack/shared-stack.ts";
import { until } from "../../../support/until.ts";

const { stack, tenants } = onSharedStack();
const FAST = { pollIntervalMs: 50 };
const UNKNOWN = `file-${"0".repeat(31)}1`;

let client: OpenAI;
beforeAll(() => {
  client = openAi(stack.url, tenants.keys.owner);
});
afterEach(() => stack.provider.clearFaults());

const put = async (text: string, name = "note.md"): Promise<string> =>
  (await client.files.create({ file: textFile(text, name), purpose: "assistants" })).id;

describe("a batch", () => {
  it("is created, polled, found and its files listed by every method of the client", async () => {
    const store = await client.vectorStores.create({});
    const ids = [await put("One."), await put("Two.")];
    const batch = await client.vectorStores.fileBatches.createAndPoll(
      store.id,
      { file_ids: ids, attributes: { shared: true } },
      FAST,
    );
    expect(batch).toMatchObject({
      id: expect.stringMatching(/^vsfb_[0-9a-f]{32}$/),
      object: "vector_store.files_batch",
      vector_store_id: store.id,
      status: "completed",
      file_counts: { in_progress: 0, completed: 2, failed: 0, cancelled: 0, total: 2 },
    });
    const at = { vector_store_id: store.id };
    expect(await client.vectorStores.fileBatches.retrieve(batch.id, at)).toEqual(batch);
    const files = await client.vectorStores.fileBatches.listFiles(batch.id, { ...at, order: "asc" });
    expect(files.data.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
    expect(files.data.every(({ attributes }) => attributes?.["shared"] === true)).toBe(true);
    const uploaded = await client.vectorStores.fileBatches.uploadAndPoll(
      store.id,
      { files: [textFile("Three.", "three.md"), textFile("", "empty.md")], fileIds: [ids[0]!] },
      FAST,
    );
    expect(uploaded).toMatchObject({
      status: "completed",
      file_counts: { completed: 2, failed: 1, total: 3 },
    });
    const failed = await client.vectorStores.fileBatches.listFiles(uploaded.id, { ...at, filter: "failed" });
    expect(failed.data).toMatchObject([{ status: "failed", last_error: { code: "invalid_file" } }]);
    for (const id of ["vsfb_abc", `vsfb_${"0".repeat(31)}1`])
      expect(await raised(client.vectorStores.fileBatches.retrieve(id, at))).toMatchObject({
        status: 404,
        code: "batch_not_found",
      });
    const elsewhere = await client.vectorStores.create({});
    expect(
      await raised(client.vectorStores.fileBatches.retrieve(batch.id, { vector_store_id: elsewhere.id })),
    ).toBeInstanceOf(NotFoundError);
  });

  it("takes files with attributes and a chunking of their own", async () => {
    const store = await client.vectorStores.create({
      chunking_strategy: { type: "static", static: { max_chunk_size_tokens: 120, chunk_overlap_tokens: 10 } },
    });
    const ids = [await put("First."), await put("Second.")] as const;
    const batch = await client.vectorStores.fileBatches.create(store.id, {
      files: [
        { file_id: ids[0], attributes: { n: 1 } },
        { file_id: ids[1], attributes: { n: 2 }, chunking_strategy: { type: "auto" } },
      ],
    });
    await client.vectorStores.fileBatches.poll(store.id, batch.id, FAST);
    const at = { vector_store_id: store.id };
    expect(await client.vectorStores.files.retrieve(ids[0], at)).toMatchObject({
      attributes: { n: 1 },
      chunking_strategy: { static: { max_chunk_size_tokens: 120, chunk_overlap_tokens: 10 } },
    });
    expect(await client.vectorStores.files.retrieve(ids[1], at)).toMatchObject({
      attributes: { n: 2 },
      chunking_strategy: { static: { max_chunk_size_tokens: 240, chunk_overlap_tokens: 0 } },
    });
  });

  it("with an unknown file changes nothing, and names it", async () => {
    const store = await client.vectorStores.create({});
    const id = await put("Known.");
    const create = (body: OpenAI.VectorStores.FileBatchCreateParams) =>
      raised(client.vectorStores.fileBatches.create(store.id, body));
    expect(await create({ file_ids: [id, UNKNOWN] })).toMatchObject({ status: 404, param: "file_ids[1]" });
    expect(await create({ files: [{ file_id: UNKNOWN }] })).toMatchObject({
      status: 404,
      param: "files[0].file_id",
    });
    expect(await create({ file_ids: [id, "nonsense"] })).toMatchObject({ status: 400, param: "file_ids[1]" });
    expect(await create({})).toBeInstanceOf(BadRequestError);
    expect(await create({ file_ids: [id], files: [{ file_id: id }] })).toBeInstanceOf(BadRequestError);
    expect(await create({ file_ids: [] })).toBeInstanceOf(BadRequestError);
    expect((await client.vectorStores.files.list(store.id)).data).toEqual([]);
  });

  it("is cancelled: what is under way ends, and once more changes nothing", async () => {
    stack.provider.failEmbeddings({ status: 503 });
    const store = await client.vectorStores.create({});
    const ids = [await put(`Slow ${Date.now()}`), await put(`Slower ${Date.now()}`)];
    const batch = await client.vectorStores.fileBatches.create(store.id, { file_ids: ids });
    expect(batch.status).toBe("in_progress");
    const at = { vector_store_id: store.id };
    const cancelled = await client.vectorStores.fileBatches.cancel(batch.id, at);
    expect(cancelled).toMatchObject({ status: "cancelled", file_counts: { cancelled: 2, total: 2 } });
    expect(await client.vectorStores.fileBatches.cancel(batch.id, at)).toEqual(cancelled);
    const files = await client.vectorStores.files.list(store.id, { filter: "cancelled" });
    expect(files.data).toHaveLength(2);
    expect((await client.vectorStores.retrieve(store.id)).status).toBe("completed");
  });

  it("is made once for repeats with one Idempotency-Key", async () => {
    const store = await client.vectorStores.create({});
    const body = { file_ids: [await put("Once.")] };
    const send = () =>
      call(stack.url, tenants.keys.owner, "POST", `/vector_stores/${store.id}/file_batches`, body, {
        "idempotency-key": "batch",
      });
    const first = await send();
    expect((await send()).body).toEqual(first.body);
  });
});

describe("a search", () => {
  let store: string;
  const named = new Map<string, string>();

  beforeAll(async () => {
    store = (await client.vectorStores.create({ name: "Searched" })).id;
    const files = [
      ["otter", "Otters sleep in the river.", { year: 2024, kind: "mammal", wild: true }],
      ["heron", "Herons fish in the river.", { year: 2025, kind: "bird", wild: true }],
      ["hen", "Hens live by the river.", { year: 2026, kind: "bird", wild: false }],
      ["stone", "Stones lie in the river.", {}],
    ] as const;
    for (const [name, text, attributes] of files) {
      const id = await put(text, `${name}.md`);
      named.set(id, name);
      await client.vectorStores.files.createAndPoll(store, { file_id: id, attributes }, FAST);
    }
  });

  const search = (body: Partial<OpenAI.VectorStoreSearchParams>) =>
    client.vectorStores.search(store, { query: "river", ...body });
  const answer = async (body: unknown) =>
    (await call(stack.url, tenants.keys.owner, "POST", `/vector_stores/${store}/search`, body)).body;
  const found = async (filters: unknown): Promise<string[]> =>
    (await search({ filters: filters as OpenAI.ComparisonFilter })).data
      .map(({ file_id: id }) => named.get(id)!)
      .toSorted();

  it("finds chunks with their file, score and attributes", async () => {
    const page = await search({ query: "otters" });
    const [best] = page.data;
    expect(best).toMatchObject({
      file_id: expect.stringMatching(/^file-/),
      filename: "otter.md",
      score: expect.any(Number),
      attributes: { year: 2024, kind: "mammal", wild: true },
      content: [{ type: "text", text: "Otters sleep in the river." }],
    });
    expect(await answer({ query: "otters" })).toMatchObject({
      object: "vector_store.search_results.page",
      search_query: ["otters"],
      has_more: false,
      next_page: null,
    });
  });

  it("is narrowed by comparisons", async () => {
    const by = (type: string, key: string, value: unknown) => found({ type, key, value });
    expect(await by("eq", "kind", "bird")).toEqual(["hen", "heron"]);
    expect(await by("eq", "wild", false)).toEqual(["hen"]);
    expect(await by("eq", "year", "2024")).toEqual([]);
    expect(await by("ne", "kind", "bird")).toEqual(["otter", "stone"]);
    expect(await by("gt", "year", 2024)).toEqual(["hen", "heron"]);
    expect(await by("gte", "year", 2024)).toEqual(["hen", "heron", "otter"]);
    expect(await by("lt", "year", 2025)).toEqual(["otter"]);
    expect(await by("lte", "year", 2025)).toEqual(["heron", "otter"]);
    expect(await by("in", "year", [2024, 2026])).toEqual(["hen", "otter"]);
    expect(await by("nin", "year", [2024, 2026])).toEqual(["heron", "stone"]);
    expect(await by("in", "year", [])).toEqual([]);
    // No other field of the document is an attribute.
    expect(await by("eq", "original_filename", "hen.md")).toEqual([]);
  });

  it("is narrowed by and, or, and both in one another", async () => {
    const bird = { type: "eq", key: "kind", value: "bird" };
    const wild = { type: "eq", key: "wild", value: true };
    const old = { type: "lt", key: "year", value: 2025 };
    expect(await found({ type: "and", filters: [bird, wild] })).toEqual(["heron"]);
    expect(await found({ type: "or", filters: [bird, old] })).toEqual(["hen", "heron", "otter"]);
    expect(await found({ type: "and", filters: [wild, { type: "or", filters: [bird, old] }] })).toEqual([
      "heron",
      "otter",
    ]);
  });

  it("refuses filters that are too deep, too many or none, and says where", async () => {
    const leaf = { type: "eq", key: "year", value: 1 };
    const nest = (depth: number): unknown =>
      depth === 0 ? leaf : { type: "and", filters: [nest(depth - 1)] };
    const refused = async (filters: unknown) => (await answer({ query: "x", filters })).error;
    expect(await refused(nest(9))).toMatchObject({ type: "invalid_request_error" });
    expect(await refused({ type: "or", filters: Array.from({ length: 64 }, () => leaf) })).toMatchObject({
      param: "filters.filters[63]",
    });
    for (const [filters, param] of [
      [{ type: "like", key: "a", value: "b" }, "filters.type"],
      [{ type: "eq", value: "b" }, "filters.key"],
      [{ type: "eq", key: "a" }, "filters.value"],
      [{ type: "in", key: "a", value: "b" }, "filters.value"],
      [{ type: "and", filters: [] }, "filters.filters"],
      [{ type: "and", filters: [leaf, { type: "eq", key: 1, value: 1 }] }, "filters.filters[1].key"],
      ["year", "filters"],
    ] as const)
      expect(await refused(filters)).toMatchObject({ param });
    expect(await found(nest(8))).toEqual([]);
  });

  it("takes several queries, whose best results make one ranking", async () => {
    const page = await search({ query: ["otters", "herons"], max_num_results: 2 });
    expect(page.data.map(({ filename }) => filename).toSorted()).toEqual(["heron.md", "otter.md"]);
    const scores = page.data.map(({ score }) => score);
    expect(scores).toEqual(scores.toSorted((one, other) => other - one));
    const queries = { query: ["otters", "herons"] };
    expect(await answer(queries)).toMatchObject({ search_query: queries.query });
  });

  it("weighs words and meaning as it is asked to, and leaves out low scores", async () => {
    const weighed = async (embedding_weight: number, text_weight: number) => {
      const ranking_options = { ranker: "none", hybrid_search: { embedding_weight, text_weight } };
      return (await search({ query: "otters", ranking_options: ranking_options as object })).data;
    };
    const byWords = await weighed(0, 1);
    expect(byWords.filter(({ score }) => score > 0).map(({ filename }) => filename)).toEqual(["otter.md"]);
    const [byMeaning] = await weighed(1, 0);
    const [byBoth] = await weighed(1, 1);
    expect(byBoth!.score).toBeCloseTo((byMeaning!.score + byWords[0]!.score) / 2, 5);
    const [best] = (await search({ query: "otters" })).data;
    const high = await search({ query: "otters", ranking_options: { score_threshold: best!.score } });
    expect(high.data).toHaveLength(1);
    expect(await raised(weighed(0, 0))).toBeInstanceOf(BadRequestError);
  });

  it("takes one to fifty results, and queries that are not blank", async () => {
    expect((await search({ max_num_results: 1, rewrite_query: true })).data).toHaveLength(1);
    for (const body of [{ max_num_results: 0 }, { max_num_results: 51 }, { query: " " }, { query: [] }])
      expect(await raised(search(body))).toBeInstanceOf(BadRequestError);
  });
});

it("a store is gone for everybody while its documents are still deleted", async () => {
  const store = await client.vectorStores.create({});
  const id = await put("Deleted meanwhile.");
  await client.vectorStores.files.createAndPoll(store.id, { file_id: id }, FAST);
  await client.vectorStores.delete(store.id);
  expect(await raised(client.vectorStores.files.create(store.id, { file_id: id }))).toMatchObject({
    status: 404,
    code: "vector_store_not_found",
  });
  await until("it is purged", async () => {
    const { rowCount } = await stack.database.db.owner.query(
      "select from vector_store_files where file_id = $1",
      [id.slice(5).replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-")],
    );
    return rowCount === 0;
  });
});
