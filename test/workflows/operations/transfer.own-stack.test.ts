/**
 * An organization moves: it is exported into an archive, deleted, and imported again without a call to the
 * embedding provider.
 */
import { mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { OpenAI } from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { call, ended, fileForm, upload } from "../../support/clients/client.ts";
import { openAi, textFile } from "../../support/clients/openai.ts";
import { runCli } from "../../support/stack/processes.ts";
import { type Stack, startStack } from "../../support/stack/stack.ts";
import { ACME, AGENTS, KEYS, RIVAL, SPACES } from "../../support/tenants/tenants.ts";
import { until } from "../../support/until.ts";

let stack: Stack;
let folder: string;

beforeAll(async () => {
  [stack, folder] = await Promise.all([startStack(), mkdtemp(join(tmpdir(), "holdfast-archive-"))]);
});
afterAll(async () => {
  await stack.close();
  await rm(folder, { recursive: true, force: true });
});

const TRANSFER_MS = 240_000;
const TEXTS = Array.from(
  { length: 23 },
  (_, index) => `# Heron ${index}\n\nHeron number ${index} stands in the reeds and waits.\n`,
);
/** A text in several chunks; the provider refuses the one with the word "cursed". */
const UNEMBEDDABLE = ["spoonbill", "cursed", "avocet"]
  .map((word) => `## ${word}\n\n${`The ${word} is of no interest here. `.repeat(120)}`)
  .join("\n\n");
/** The texts, two that fail in whole or in part, one at a path, and one in a vector store. */
const DOCUMENTS = TEXTS.length + 4;
const archive = (): string => join(folder, "archive");
const keyFile = (): string => join(folder, "key");
const operate = async (...args: string[]) =>
  JSON.parse(await runCli(["organization", ...args, "--key-file", keyFile()], stack.env));

interface Hit {
  readonly document_id: string;
  readonly chunk_id: string;
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly locations: unknown;
}

/**
 * Returns the hits sorted by id: hits with equal scores come in the order of their runs, which are new after
 * an import.
 */
async function search(key: string): Promise<Hit[]> {
  const { body } = await call(stack.url, key, "POST", "/data/hybrid-search", {
    space_id: SPACES.research,
    query: "heron in the reeds",
    limit: 50,
  });
  const hits: Hit[] = body.results
    .filter(({ text }: Hit) => text.includes("Heron"))
    .map(({ document_id, chunk_id, text, start, end, locations }: Hit) => ({
      document_id,
      chunk_id,
      text,
      start,
      end,
      locations,
    }));
  return hits.toSorted((one, other) => one.chunk_id.localeCompare(other.chunk_id));
}

/** A file in a vector store, and one in none. */
async function fillStore(client: OpenAI): Promise<OpenAI.VectorStore> {
  const store = await client.vectorStores.create({ name: "Owls", metadata: { space_id: SPACES.research } });
  const file = textFile("An owl hoots at the moon.", "owl.md");
  await client.vectorStores.files.uploadAndPoll(store.id, file, { pollIntervalMs: 50 });
  await client.files.create({ file: textFile("In no store."), purpose: "user_data" });
  return store;
}

/** Everything that the client sees of the store, of its files and of the caller's, with their content. */
async function filesSeen(client: OpenAI, { id }: OpenAI.VectorStore): Promise<object> {
  const files = (await client.files.list()).data;
  return {
    store: { ...(await client.vectorStores.retrieve(id)), last_active_at: 0 },
    inStore: (await client.vectorStores.files.list(id)).data,
    files,
    contents: await Promise.all(files.map(async (file) => (await client.files.content(file.id)).text())),
  };
}

/** The headers of all chunks of published versions, by the ids of the chunks. */
const headers = async (): Promise<unknown[]> =>
  (
    await stack.database.db.owner.query(
      `select chunk.id, chunk.header
       from documents document
       join chunks chunk on chunk.run_num = document.published_run_num
       where document.organization_id = $1
       order by chunk.id`,
      [ACME],
    )
  ).rows;

let before: Hit[];
let headersBefore: unknown[];
let store: OpenAI.VectorStore;
let filesBefore: object;
let broken: { id: string };
let refused: { id: string };

/** Counts the document's chunks and those with a vector. */
async function countsOf(
  key: string,
  id: string,
): Promise<{ chunks: number; embedded: number; warnings: unknown[] }> {
  const { processing_state: state } = (await call(stack.url, key, "GET", `/data/${id}`)).body;
  return { chunks: state.chunk_count, embedded: state.embedded_chunk_count, warnings: state.warnings };
}

test(
  "an export that loses its worker goes on where it stood, and leaves nothing readable",
  async () => {
    const documents = [];
    for (const [index, text] of TEXTS.entries())
      documents.push(await upload(stack.url, KEYS.editor, SPACES.research, text, `heron-${index}.md`));
    broken = await upload(stack.url, KEYS.editor, SPACES.research, "%PDF-1.7 nothing of a PDF", "broken.pdf");
    stack.provider.poisonTexts((text) => (text.includes("cursed") ? "zeros" : undefined));
    refused = await upload(stack.url, KEYS.editor, SPACES.research, UNEMBEDDABLE, "cursed.md");
    for (const { id } of [...documents, broken, refused]) await ended(stack.url, KEYS.editor, id);
    await call(
      stack.url,
      KEYS.editor,
      "POST",
      `/spaces/${SPACES.research}/data/upload`,
      fileForm("only kept", "kept.bin", { path: "kept" }),
    );
    const client = openAi(stack.url, KEYS.owner);
    store = await fillStore(client);
    filesBefore = await filesSeen(client, store);
    const { chunks, embedded, warnings } = await countsOf(KEYS.owner, refused.id);
    expect(chunks - embedded).toBe(warnings.length);
    expect(warnings.length).toBeGreaterThan(0);
    before = await search(KEYS.owner);
    // As a version before 0.10.0 wrote it.
    await stack.database.db.owner.query("update chunks set header = null where id = $1", [
      before[0]!.chunk_id,
    ]);
    headersBefore = await headers();
    expect(new Set(headersBefore.map((row) => (row as { header: string | null }).header))).toEqual(
      new Set([null, "", "spoonbill", "cursed", "avocet"]),
    );
    await stack.database.db.owner.query(
      "update organizations set max_key_lifetime_seconds = 86400 where id = $1",
      [ACME],
    );
    expect(before).toHaveLength(TEXTS.length);
    for (const { end, locations } of before)
      expect({ end, locations }).toEqual({
        end: expect.any(Number),
        locations: [expect.objectContaining({ lines: expect.any(Array) })],
      });
    const { operation_id: id } = await operate("export", ACME, "--to", archive(), "--no-wait", "--json");
    const standing = async () =>
      (await stack.database.db.owner.query("select completed_at, report from operations where id = $1", [id]))
        .rows[0];
    await until("it has begun", async () => (await standing()).report.directory !== undefined);
    await stack.worker.kill("SIGKILL");
    stack.restartWorker();
    await until("it has ended", async () => (await standing()).completed_at !== null, 120_000);
    expect((await standing()).report).toMatchObject({
      organization_id: ACME,
      documents: DOCUMENTS,
      files: 2,
    });
    const parts = (await readdir(archive(), { recursive: true, withFileTypes: true })).filter((entry) =>
      entry.isFile(),
    );
    const bytes = await Promise.all(
      parts.map((entry) => readFile(join(entry.parentPath, entry.name), "latin1")),
    );
    expect(bytes.filter((text) => text.includes("Heron") || text.includes("acme.example"))).toEqual([]);
  },
  TRANSFER_MS,
);

test("the archive of an organization that is here is refused", async () => {
  const refused = operate("import", "--from", archive());
  await expect(refused).rejects.toThrow("already exists here");
});

test(
  "imported elsewhere it answers as before: same ids, same texts, and nothing of it was embedded anew",
  async () => {
    await runCli(["organization", "delete", ACME, "--yes", "--grace", "0"], stack.env);
    const embedded = stack.provider.counts.texts;
    const { report } = await operate("import", "--from", archive());
    expect(report).toMatchObject({ organization_id: ACME, documents: DOCUMENTS, files: 2 });
    const { rows } = await stack.database.db.owner.query(
      "select max_key_lifetime_seconds from organizations where id = $1",
      [ACME],
    );
    expect(rows).toEqual([{ max_key_lifetime_seconds: 86_400 }]);
    const { key } = JSON.parse(
      await runCli(["keys", "create", "--email", "ada@acme.example", "--name", "moved", "--json"], stack.env),
    );
    const found = await until("all documents are searchable again", async () => {
      const results = await search(key).catch(() => []);
      return results.length === before.length && results;
    });
    expect(found).toEqual(before);
    expect(await headers()).toEqual(headersBefore);
    // At most the question of the two searches was embedded, since it is cached.
    expect(stack.provider.counts.texts - embedded).toBeLessThanOrEqual(1);
    const {
      chunks,
      embedded: withVector,
      warnings,
    } = await ended(stack.url, key, refused.id).then(({ id }: { id: string }) => countsOf(key, id));
    expect(chunks - withVector).toBe(warnings.length);
    expect(warnings.length).toBeGreaterThan(0);
    expect((await ended(stack.url, key, broken.id)).processing_state.pipeline_status).toBe("failed");
    const documentId = found[0]?.document_id ?? "";
    expect((await call(stack.url, key, "GET", `/data/${documentId}/text?format=markdown`)).body).toContain(
      "Heron",
    );
    const download = await call(
      stack.url,
      key,
      "GET",
      `/spaces/${SPACES.research}/data/download?path=${encodeURIComponent("kept/kept.bin")}`,
    );
    expect([download.status, download.body]).toEqual([200, "only kept"]);
    expect(await filesSeen(openAi(stack.url, key), store)).toEqual(filesBefore);
    const turn = await call(stack.url, key, "POST", "/chat/completions", {
      model: AGENTS.analyst,
      messages: [{ role: "user", content: "Who waits?" }],
    });
    expect(turn.status).toBe(200);
    expect(JSON.parse(await runCli(["integrity", "--json"], stack.env)).ok).toBe(true);
  },
  TRANSFER_MS,
);

test(
  "a part that was changed is told, and so is a wrong key",
  async () => {
    const other = join(folder, "rival");
    await operate("export", RIVAL, "--to", other);
    await runCli(["organization", "delete", RIVAL, "--yes", "--grace", "0"], stack.env);
    const { directory } = JSON.parse(await readFile(join(other, "manifest.json"), "utf8")) as {
      directory: string;
    };
    const path = join(other, "parts", directory.slice(0, 2), directory);
    const whole = await readFile(path);
    await writeFile(path, Buffer.concat([whole, Buffer.from([0])]));
    await expect(operate("import", "--from", other)).rejects.toThrow("is missing or was changed");
    await writeFile(path, whole);
    await writeFile(keyFile(), Buffer.alloc(32, 5).toString("base64"));
    await expect(operate("import", "--from", other)).rejects.toThrow("is encrypted with another key");
  },
  TRANSFER_MS,
);
