/**
 * Documents with texts that the embedding provider refuses, on the real stack: they are found by words, and
 * no other document suffers.
 */
import { afterEach, expect, test } from "vitest";
import { type Answer, call, ended } from "../support/clients/client.ts";
import { documentClient } from "../support/clients/document-client.ts";
import { runCli } from "../support/stack/processes.ts";
import type { Poison } from "../support/provider/poisoned-embeddings.ts";
import { onSharedStack } from "../support/stack/shared-stack.ts";
import { until } from "../support/until.ts";

const { stack, tenants } = onSharedStack();
const { accept, editor, end, reprocess, rows, versions } = documentClient({ stack, tenants });

afterEach(() => {
  stack.provider.clearFaults();
  stack.provider.poisonTexts();
});

/** Makes a text with one chunk for each word. */
const sections = (...words: string[]): string =>
  words.map((word) => `## The ${word}\n\n${`Here the ${word} counts. `.repeat(150)}`).join("\n\n");
const chunksOf = async (id: string): Promise<Answer["body"][]> =>
  (await editor("GET", `/data/${id}/chunks?limit=1000`)).body.items;
const integrityOf = async (id: string): Promise<Answer["body"]> =>
  (await editor("GET", `/data/${id}/integrity`)).body;
const find = async (query: string): Promise<Answer["body"][]> =>
  (await editor("POST", "/data/hybrid-search", { query, space_id: tenants.spaces.research })).body.results;
const refuse = (word: string, poison: Poison = "zeros"): void =>
  stack.provider.poisonTexts((text) => (text.includes(word) ? poison : undefined));

/**
 * Expects the document to end `completed`, with a warning for each chunk that contains the word, and no
 * others.
 */
async function expectRefused(id: string, word: string): Promise<Answer["body"]> {
  const document = await end(id);
  const chunks = await chunksOf(id);
  const refused = chunks.filter((chunk) => chunk.text.includes(word));
  expect(refused.length).toBeGreaterThan(0);
  expect(document.processing_state).toMatchObject({
    pipeline_status: "completed",
    embedded: true,
    chunk_count: chunks.length,
    embedded_chunk_count: chunks.length - refused.length,
    warnings: refused.map((chunk) => ({ code: "not_embedded", chunk_index: chunk.chunk_index })),
  });
  for (const chunk of chunks) expect(chunk.embedding.embedded).toBe(!refused.includes(chunk));
  for (const chunk of refused) expect(chunk.embedding.embedded_at).toBeNull();
  expect(await integrityOf(id)).toMatchObject({ ok: true, findings: [] });
  return document;
}

/** Uploads twenty documents without the word, and expects each to be completed with its one vector. */
async function expectOthersToComplete(word: string): Promise<void> {
  const others = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      accept(
        `# Note ${index}\n\nNote ${index} beside the ${word.slice(1)} says nothing.`,
        `${word}-${index}.md`,
      ),
    ),
  );
  for (const { id } of others)
    expect((await end(id)).processing_state).toMatchObject({
      pipeline_status: "completed",
      embedded_chunk_count: 1,
    });
}

test.each([["zeros" as const], [{ status: 400 }]])(
  "a document with one refused text (%j) completes with twenty others and is found by its words",
  async (poison) => {
    const word = typeof poison === "string" ? "quagga" : "okapi";
    refuse(word, poison);
    const poisoned = await accept(sections("lynx", word, "heron"), `${word}.md`);
    await expectOthersToComplete(word);
    await expectRefused(poisoned.id, word);
    const hit = (await find(word)).find((one) => one.document_id === poisoned.id && one.text.includes(word));
    expect(hit).toMatchObject({ dense_score: null });
    expect(hit.sparse_score).toBeGreaterThan(0);
    expect(stack.worker.output()).toContain("the model provider rejected texts of a document");
    expect(stack.worker.output()).not.toContain(`Here the ${word}`);
  },
);

test.each([["tapir", { status: 500 }] as const, ["serow", { cut: true }] as const])(
  "a document with a text (%s) that the provider breaks on waits alone, says so, and ends once the " +
    "provider takes it",
  async (word, poison) => {
    refuse(word, poison);
    const breaking = await accept(sections("lynx", word), `${word}.md`);
    await expectOthersToComplete(word);
    const state = await until("it says what it waits for", async () => {
      const { processing_state: found } = (await editor("GET", `/data/${breaking.id}`)).body;
      return found.waiting_for && found;
    });
    expect(state).toMatchObject({
      pipeline_status: "embedding",
      waiting_for: { code: "provider_unavailable" },
    });
    // The vectors that the provider did return are cached, so no attempt pays for them again.
    await until(
      "the other texts are kept",
      async () =>
        (
          await rows(
            `select
             from chunks chunk
             join embedding_cache cached on cached.content_hash = chunk.content_hash
             where chunk.document_id = $1`,
            [breaking.id],
          )
        ).length > 0,
    );
    stack.provider.poisonTexts();
    const { processing_state: ended } = await end(breaking.id);
    expect(ended).toMatchObject({
      pipeline_status: "completed",
      embedded: true,
      embedded_chunk_count: ended.chunk_count,
    });
    expect(ended.warnings).toBeUndefined();
  },
);

test("the next run asks for a refused text again, and a restored version does not", async () => {
  refuse("numbat");
  const { id } = await accept(sections("wren", "numbat"), "numbat.md");
  await expectRefused(id, "numbat");
  stack.provider.poisonTexts();
  await reprocess(id);
  const { processing_state: state } = await end(id);
  expect(state.embedded_chunk_count).toBe(state.chunk_count);
  expect(state.warnings).toBeUndefined();
  expect((await chunksOf(id)).every((chunk) => chunk.embedding.embedded)).toBe(true);
  expect(await integrityOf(id)).toMatchObject({ ok: true });

  const [, first] = await versions(id);
  await rows(
    `delete from embedding_cache cached
     using chunks chunk
     where chunk.document_id = $1
       and cached.content_hash = chunk.content_hash
       and chunk.refused_by is not null`,
    [id],
  );
  const { texts } = stack.provider.counts;
  expect((await editor("POST", `/data/${id}/versions/${first.version}/restore`)).status).toBe(202);
  await expectRefused(id, "numbat");
  expect(stack.provider.counts.texts).toBe(texts);
});

test("a document of which every text is refused fails, and what it showed before stays", async () => {
  refuse("zorilla", { status: 422 });
  const { id } = await accept(sections("zorilla", "zorilla too"), "zorilla.md");
  expect((await end(id)).processing_state).toMatchObject({
    pipeline_status: "failed",
    error: { code: "rejected_by_provider", stage: "embedding" },
  });
  stack.provider.poisonTexts();
  await reprocess(id);
  expect(await end(id)).toMatchObject({ version: 2, processing_state: { pipeline_status: "completed" } });
});

test("a provider that refuses every text is waited for, and later refusals are found", async () => {
  stack.provider.poisonTexts(() => ({ status: 400 }));
  const { id } = await accept(sections("ibex", "gaur"), "gaur.md");
  await until(
    "it waits",
    async () =>
      (await rows("select waiting_for from pipeline_runs where document_id = $1", [id]))[0].waiting_for ===
      "provider_unavailable",
  );
  refuse("gaur");
  stack.provider.failEmbeddings({ status: 503 }, 1);
  await expectRefused(id, "gaur");
});

test("a large document goes on past refused texts where its batches meet", async () => {
  stack.provider.poisonTexts((text) => (/ part (51[0-3]|1023)\b/.test(text) ? "nan" : undefined));
  const part = (index: number): string =>
    `## Part ${index}\n\nThe tarsier says in part ${index} that ${"every word counts here ".repeat(60)}`;
  const { id } = await accept(
    Array.from({ length: 1_100 }, (_, index) => part(index)).join("\n\n"),
    "tarsier.md",
  );
  const { processing_state: state } = await end(id, 120_000);
  expect(state).toMatchObject({ pipeline_status: "completed" });
  expect(state.chunk_count).toBeGreaterThan(1_024);
  expect(state.chunk_count - state.embedded_chunk_count).toBe(state.warnings.length);
  expect(state.warnings.length).toBeGreaterThanOrEqual(5);
  expect(await integrityOf(id)).toMatchObject({ ok: true, findings: [] });
}, 150_000);

test("a vector that is missing without a mark is damage, even next to refused texts", async () => {
  refuse("saiga");
  const { id } = await accept(sections("crane", "saiga", "stork"), "saiga.md");
  await expectRefused(id, "saiga");
  expect(
    JSON.parse(await runCli(["integrity", "--organization", tenants.acme, "--json"], stack.env)).ok,
  ).toBe(true);
  const RUN = "(select published_run_num from documents where id = $1)";
  await rows(
    `delete from embeddings
     where run_num = ${RUN}
       and chunk_index = (select min(chunk_index) from chunks where run_num = ${RUN} and refused_by is null)`,
    [id],
  );
  expect((await integrityOf(id)).findings).toMatchObject([{ code: "embeddings_incomplete" }]);
  await expect(runCli(["integrity", "--organization", tenants.acme, "--json"], stack.env)).rejects.toThrow(
    /"published_incomplete":\s*1/,
  );
  await rows("delete from embedding_cache where organization_id = $1", [tenants.acme]);
  await reprocess(id);
  expect((await ended(stack.url, tenants.keys.editor, id)).version).toBe(2);
  expect(await integrityOf(id)).toMatchObject({ ok: true });
});

test("no request holds texts of two organizations", async () => {
  stack.provider.requests.length = 0;
  const put = async (key: string, space: string, name: string): Promise<void> => {
    const documents = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        accept(`# ${name} ${index}\n\nThe ${name} number ${index}.`, `${name}-${index}.md`, space, key),
      ),
    );
    for (const { id } of documents) await ended(stack.url, key, id);
  };
  await Promise.all([
    put(tenants.keys.editor, tenants.spaces.research, "gannet"),
    put(tenants.keys.rival, tenants.spaces.rival, "petrel"),
  ]);
  const requests = stack.provider.requests
    .filter(({ route }) => route === "embeddings")
    .map(({ body }) => body["input"] as string[]);
  expect(requests.flat().filter((text) => /gannet|petrel/.test(text))).toHaveLength(16);
  expect(
    requests.filter(
      (texts) =>
        texts.some((text) => text.includes("gannet")) && texts.some((text) => text.includes("petrel")),
    ),
  ).toEqual([]);
  const question = (key: string, space: string, query: string) =>
    call(stack.url, key, "POST", "/data/hybrid-search", { query, space_id: space });
  await Promise.all([
    question(tenants.keys.viewer, tenants.spaces.research, "one gannet?"),
    question(tenants.keys.rival, tenants.spaces.rival, "one petrel?"),
  ]);
});

test("a question that the provider refuses is answered by words", async () => {
  const { id } = await accept("# Kakapo\n\nThe kakapo does not fly.", "kakapo.md");
  await end(id);
  refuse("kakapo", { status: 413 });
  const { body } = await editor("POST", "/data/hybrid-search", {
    query: "kakapo?",
    space_id: tenants.spaces.research,
  });
  expect(body.results[0]).toMatchObject({ document_id: id, dense_score: null });
});
