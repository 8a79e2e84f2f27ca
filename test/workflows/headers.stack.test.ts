/** Headers of chunks on the real stack: what is embedded and found, what is shared, and what is counted. */
import { expect, test } from "vitest";
import type { Answer } from "../support/clients/client.ts";
import { documentClient } from "../support/clients/document-client.ts";
import { onSharedStack } from "../support/stack/shared-stack.ts";

const { stack, tenants } = onSharedStack();
const { editor, end, hits, put, reprocess, rows } = documentClient({ stack, tenants });

const many = (about: string): string =>
  Array.from({ length: 60 }, (_, at) => `The ${about} was seen by observer ${at} at noon.`).join(" ");
const chunksOf = async (id: string): Promise<Answer["body"][]> =>
  (await editor("GET", `/data/${id}/chunks?limit=1000`)).body.items;
const headersOf = async (id: string): Promise<(string | null)[]> =>
  (
    await rows(
      `select chunk.header
       from documents document
       join chunks chunk on chunk.run_num = document.published_run_num
       where document.id = $1
       order by chunk.chunk_index`,
      [id],
    )
  ).map((row) => row.header);
const isWhole = async (id: string): Promise<void> =>
  expect((await editor("GET", `/data/${id}/integrity`)).body).toMatchObject({ ok: true, findings: [] });
/** The texts that the provider was asked for since it was reset. */
const embedded = (): string[] =>
  stack.provider.requests
    .filter(({ route }) => route === "embeddings")
    .flatMap(({ body }) => body["input"] as string[]);

test("later chunks of a document are embedded and found with its title", async () => {
  stack.provider.reset();
  const { id } = await put(`# Zugunruhe in captive warblers\n\n${many("warbler")}`, "4983.md");
  const chunks = await chunksOf(id);
  expect(chunks.length).toBeGreaterThan(2);
  expect(chunks[0]!.text).toMatch(/^Zugunruhe in captive warblers\n\nThe warbler/);
  const title = "Zugunruhe in captive warblers";
  expect(await headersOf(id)).toEqual(["", ...chunks.slice(1).map(() => title)]);
  const texts = chunks.map((chunk) => chunk.text);
  expect(new Set(embedded())).toEqual(
    new Set([texts[0]!, ...texts.slice(1).map((text) => `${title}\n${text}`)]),
  );
  const found = (await hits(id, "zugunruhe")).results;
  expect(found).toHaveLength(chunks.length);
  for (const hit of found) {
    expect(hit.sparse_score).toBeGreaterThan(0);
    expect(hit.text).toBe(texts[hit.chunk_index]);
    expect(hit).not.toHaveProperty("header");
  }
  await isWhole(id);
});

test("headings are embedded with the chunks below them, and the cache tells them apart", async () => {
  const sections = (title: string): string =>
    `# ${title}\n\n## Methods\n\n${many("dunlin")}\n\n## Results\n\n${many("godwit")}`;
  const first = await put(sections("Waders of the coast"), "waders.md");
  const made = await headersOf(first.id);
  expect(new Set(made)).toEqual(
    new Set(["", "Waders of the coast\nMethods", "Waders of the coast\nResults"]),
  );
  stack.provider.reset();
  await put(sections("Waders of the coast"), "again.md");
  expect(embedded()).toEqual([]);
  const other = await put(sections("Waders of the marsh"), "other.md");
  expect(embedded()).toHaveLength((await chunksOf(other.id)).length);
  expect(
    embedded().filter((text) => text.startsWith("Waders of the marsh\nResults\nThe godwit")),
  ).not.toEqual([]);
  await isWhole(other.id);
});

test("hostile headings are processed", async () => {
  const levels = Array.from({ length: 600 }, (_, at) => `${"#".repeat((at % 6) + 1)} \u202E🦊 تقرير ${at}`);
  const { id, processing_state: state } = await put(
    `# ${"🦊".repeat(3_000)}\n\n${levels.join("\n\n")}\n\n${many("stilt")}`,
    "hostile.md",
  );
  expect(state.pipeline_status).toBe("completed");
  const made = await headersOf(id);
  expect(made.every((header) => header !== null && header.length <= 400 && header.isWellFormed())).toBe(true);
  await isWhole(id);
});

test("a restored version and one of an older version are what they were", async () => {
  const { id } = await put(`Notes on ruffs\n${many("ruff")}`, "ruffs.txt");
  const made = await headersOf(id);
  await rows("update chunks set header = null where document_id = $1", [id]);
  await reprocess(id);
  await end(id);
  expect(await headersOf(id)).toEqual(made);
  stack.provider.reset();
  await editor("POST", `/data/${id}/versions/1/restore`);
  await end(id);
  expect(await headersOf(id)).toEqual(made.map(() => null));
  await editor("POST", `/data/${id}/versions/2/restore`);
  await end(id);
  expect(await headersOf(id)).toEqual(made);
  expect(embedded()).toEqual([]);
  await isWhole(id);
});
