/**
 * Retrieval quality on a collection in BEIR's format: nDCG@10, recall@100 and MRR@10 of the sparse side, the
 * dense side and both.
 */
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import { migrate } from "../../src/db/migrate.ts";
import { inTenant } from "../../src/db/pool.ts";
import type { OwnedDatabase } from "../../test/support/servers/database.ts";
import { denseCandidates } from "../../src/db/search/embeddings.ts";
import { type ChunkKey, readSearchScope } from "../../src/db/search/scope.ts";
import type { EmbeddingModel } from "../../src/models/embedding/embedding-model.ts";
import { createLocalMiniLm } from "../../src/models/embedding/local-minilm.ts";
import { analyzeQuery } from "../../src/search/text/analyzer.ts";
import { scoreSparse } from "../../src/search/bm25.ts";
import { createChunkSet } from "../../src/search/chunk-set.ts";
import { hybridSearch } from "../../src/search/hybrid.ts";
import { call, ended, upload } from "../../test/support/clients/client.ts";
import setup from "../../test/support/run/global-setup.ts";
import { startStack } from "../../test/support/stack/stack.ts";
import { KEYS, SPACES } from "../../test/support/tenants/tenants.ts";
import {
  type SearchSpace,
  createOrganization,
  createSpace,
  publishDocuments,
} from "../../test/support/stack/search-space.ts";
import { openThrowaway, throwawayDatabase } from "../throwaway-database.ts";

interface Options {
  readonly collection: string;
  readonly direct?: boolean;
  readonly database?: string;
  readonly vectors?: string;
  readonly sparseOnly?: boolean;
}

interface Entry {
  readonly _id: string;
  readonly title?: string;
  readonly text: string;
}

type Judgements = Map<string, Map<string, number>>;

const DEPTH = 100;
const DOCUMENTS_AT_ONCE = 64;

async function readEntries(path: string): Promise<Entry[]> {
  return (await readFile(path, "utf8"))
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Entry);
}

async function readJudgements(path: string): Promise<Judgements> {
  const judgements: Judgements = new Map();
  for (const line of (await readFile(path, "utf8")).trim().split("\n").slice(1)) {
    const [query, document, grade] = line.split("\t");
    const ofQuery = judgements.get(query!) ?? new Map<string, number>();
    judgements.set(query!, ofQuery.set(document!, Number(grade)));
  }
  return judgements;
}

const textOf = (entry: Entry): string => (entry.title ? `${entry.title}\n${entry.text}` : entry.text);

/**
 * Vectors of the texts, kept in a file of float32 between runs where one is named: embedding is most of a
 * run's time.
 */
async function embedAll(
  model: EmbeddingModel,
  texts: readonly string[],
  kind: "query" | "passage",
  file: string | undefined,
): Promise<Float32Array[]> {
  if (file !== undefined && existsSync(file)) {
    const bytes = await readFile(file);
    const all = new Float32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);
    if (all.length === texts.length * model.dimensions)
      return texts.map((_, at) => all.slice(at * model.dimensions, (at + 1) * model.dimensions));
  }
  const embedded = await model.embed(texts, kind);
  const vectors = embedded.filter((vector) => vector !== null);
  if (vectors.length < texts.length)
    throw new Error(`The model refuses ${texts.length - vectors.length} texts.`);
  if (file !== undefined)
    await writeFile(
      file,
      Buffer.concat(
        vectors.map((vector) => Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength)),
      ),
    );
  return vectors;
}

interface Measures {
  ndcg: number;
  recall: number;
  mrr: number;
}

/** Of one ranking, best first, against the grades of its query's relevant documents. */
function measure(ranking: readonly string[], grades: ReadonlyMap<string, number>): Measures {
  const gain = (grade: number, rank: number): number => grade / Math.log2(rank + 2);
  const relevant = [...grades.values()].filter((grade) => grade > 0).toSorted((one, other) => other - one);
  const ideal = relevant.slice(0, 10).reduce((sum, grade, rank) => sum + gain(grade, rank), 0);
  const found = ranking.slice(0, 10).reduce((sum, id, rank) => sum + gain(grades.get(id) ?? 0, rank), 0);
  const first = ranking.slice(0, 10).findIndex((id) => (grades.get(id) ?? 0) > 0);
  return {
    ndcg: found / ideal,
    recall: ranking.slice(0, DEPTH).filter((id) => (grades.get(id) ?? 0) > 0).length / relevant.length,
    mrr: first === -1 ? 0 : 1 / (first + 1),
  };
}

function mean(all: readonly Measures[]): string {
  const of = (key: keyof Measures): string =>
    (all.reduce((sum, one) => sum + one[key], 0) / all.length).toFixed(4);
  return `${of("ndcg")}  ${of("recall")}      ${of("mrr")}`;
}

const percentile = (times: readonly number[], share: number): string =>
  `${times.toSorted((one, other) => one - other)[Math.floor(times.length * share)]!.toFixed(1)} ms`;

interface Loaded {
  readonly db: OwnedDatabase;
  readonly target: SearchSpace;
  readonly model: EmbeddingModel;
  /** Document of the collection by run. */
  readonly byRun: ReadonlyMap<number, string>;
  readonly byDocument: ReadonlyMap<string, string>;
}

async function load(
  db: OwnedDatabase,
  model: EmbeddingModel,
  corpus: readonly Entry[],
  vectors: readonly Float32Array[] | null,
): Promise<Loaded> {
  const target = await createSpace(db, await createOrganization(db));
  const byRun = new Map<number, string>();
  const byDocument = new Map<string, string>();
  const started = performance.now();
  for (let from = 0; from < corpus.length; from += DOCUMENTS_AT_ONCE) {
    const part = corpus.slice(from, from + DOCUMENTS_AT_ONCE);
    const documents = part.map((entry, at) => ({
      name: entry._id,
      chunks: [{ text: textOf(entry), vector: vectors?.[from + at] }],
    }));
    for (const [at, written] of (await publishDocuments(db, target, documents, model.name)).entries()) {
      byRun.set(written.runNum, part[at]!._id);
      byDocument.set(written.id, part[at]!._id);
    }
  }
  print(`${corpus.length} documents loaded in ${((performance.now() - started) / 1000).toFixed(1)} s`);
  await db.owner.query("vacuum analyze postings, embeddings, chunks, documents");
  return { db, target, model, byRun, byDocument };
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Documents of each side alone, best first. */
async function sidesOf(
  { db, target, model, byRun }: Loaded,
  text: string,
  vector: Float32Array | null,
): Promise<{ sparse: string[]; dense: string[] }> {
  return inTenant(db, target.organization, async (sql) => {
    const scope = await readSearchScope(sql, {
      space: target.space,
      filter: { documentIds: null, folderIds: null },
    });
    const name = (found: ChunkKey): string => byRun.get(found.run_num)!;
    const scores = await scoreSparse(sql, scope, analyzeQuery(text, scope.languages));
    const sparse = scores.best({ required: null, excluded: createChunkSet(0) }, DEPTH);
    const modelNum = scope.models[0]?.num;
    if (vector === null || modelNum === undefined) return { sparse: sparse.map(name), dense: [] };
    const dense = await denseCandidates(
      sql,
      scope,
      { required: null, excluded: [] },
      { query: { vector, modelNum, dimensions: model.dimensions }, limit: DEPTH },
    );
    return { sparse: sparse.map(name), dense: dense.map(name) };
  });
}

async function evaluate(
  loaded: Loaded,
  queries: readonly Entry[],
  vectors: readonly Float32Array[] | null,
  judgements: Judgements,
): Promise<void> {
  const results = { sparse: [] as Measures[], dense: [] as Measures[], hybrid: [] as Measures[] };
  const times: number[] = [];
  for (const [at, query] of queries.entries()) {
    const grades = judgements.get(query._id);
    if (grades === undefined) continue;
    const vector = vectors?.[at] ?? null;
    const sides = await sidesOf(loaded, query.text, vector);
    results.sparse.push(measure(sides.sparse, grades));
    if (vector === null) continue;
    results.dense.push(measure(sides.dense, grades));
    const started = performance.now();
    const { results: hits } = await hybridSearch(
      { db: loaded.db, queryEmbedding: { model: loaded.model, embed: async () => vector } },
      loaded.target,
      {
        query: query.text,
        limit: DEPTH,
      },
    );
    times.push(performance.now() - started);
    results.hybrid.push(
      measure(
        hits.map((hit) => loaded.byDocument.get(hit.document_id)!),
        grades,
      ),
    );
  }
  const version = (await loaded.db.owner.query<{ server_version: string }>("show server_version")).rows[0]!
    .server_version;
  print(
    `${results.sparse.length} queries, ${loaded.byRun.size} documents, ${loaded.model.name}, alpha ` +
      `${loaded.model.fusion.alpha}, PostgreSQL ${version}, ${availableParallelism()} cores`,
  );
  print("         nDCG@10 recall@100  MRR@10");
  for (const [side, all] of Object.entries(results))
    if (all.length > 0) print(`${side.padEnd(8)} ${mean(all)}`);
  if (times.length > 0)
    print(
      `hybrid without query embedding, ${DEPTH} results: p50 ${percentile(times, 0.5)}, p95 ` +
        `${percentile(times, 0.95)}`,
    );
}

interface ApiHit {
  readonly document_id: string;
  readonly dense_score: number | null;
  readonly sparse_score: number | null;
}

const UPLOADERS = 8;

/**
 * As a caller does: uploads every text to a whole service with the built-in model, and searches. Documents
 * rank by their best chunk.
 */
async function throughApi({ collection }: Options): Promise<void> {
  const corpus = await readEntries(join(collection, "corpus.jsonl"));
  const queries = await readEntries(join(collection, "queries.jsonl"));
  const judgements = await readJudgements(join(collection, "qrels", "test.tsv"));
  const stop = await setup();
  const stack = await startStack({ localModels: true });
  try {
    const names = new Map<string, string>();
    const started = performance.now();
    let next = 0;
    const uploader = async (): Promise<void> => {
      for (let at = next++; at < corpus.length; at = next++) {
        const { id } = await upload(
          stack.url,
          KEYS.editor,
          SPACES.research,
          textOf(corpus[at]!),
          `${at}.txt`,
        );
        names.set(id, corpus[at]!._id);
      }
    };
    await Promise.all(Array.from({ length: UPLOADERS }, uploader));
    for (const id of names.keys()) await ended(stack.url, KEYS.editor, id, 1_800_000);
    print(
      `${corpus.length} documents uploaded and indexed in ` +
        `${((performance.now() - started) / 1000).toFixed(0)} s`,
    );
    const results = {
      "sparse share": [] as Measures[],
      "dense share": [] as Measures[],
      hybrid: [] as Measures[],
    };
    for (const query of queries) {
      const grades = judgements.get(query._id);
      if (grades === undefined) continue;
      const { body } = await call(stack.url, KEYS.viewer, "POST", "/data/hybrid-search", {
        query: query.text,
        space_id: SPACES.research,
        limit: DEPTH,
        max_chunks_per_document: 1,
      });
      const hits: readonly ApiHit[] = body.results;
      const by = (share: (hit: ApiHit) => number): string[] =>
        hits.toSorted((one, other) => share(other) - share(one)).map((hit) => names.get(hit.document_id)!);
      results.hybrid.push(
        measure(
          by(() => 0),
          grades,
        ),
      );
      results["sparse share"].push(
        measure(
          by((hit) => hit.sparse_score ?? 0),
          grades,
        ),
      );
      results["dense share"].push(
        measure(
          by((hit) => hit.dense_score ?? 0),
          grades,
        ),
      );
    }
    print(`${results.hybrid.length} queries through the API; a share alone orders the ${DEPTH} hits of both`);
    print("             nDCG@10 recall@100  MRR@10");
    for (const [side, all] of Object.entries(results)) print(`${side.padEnd(12)} ${mean(all)}`);
  } finally {
    await stack.close();
    await stop();
  }
}

async function main(options: Options): Promise<void> {
  if (!options.direct) return throughApi(options);
  const database = await throwawayDatabase(options.database);
  const db = openThrowaway(database.url, 10);
  const model = createLocalMiniLm();
  try {
    await migrate(db);
    const corpus = await readEntries(join(options.collection, "corpus.jsonl"));
    const queries = await readEntries(join(options.collection, "queries.jsonl"));
    const judgements = await readJudgements(join(options.collection, "qrels", "test.tsv"));
    const cache = (name: string): string | undefined =>
      options.vectors === undefined ? undefined : `${options.vectors}.${name}`;
    const embed = async (entries: readonly Entry[], kind: "query" | "passage", name: string) =>
      options.sparseOnly ? null : embedAll(model, entries.map(textOf), kind, cache(name));
    const loaded = await load(db, model, corpus, await embed(corpus, "passage", "corpus"));
    await evaluate(loaded, queries, await embed(queries, "query", "queries"), judgements);
  } finally {
    await model.close();
    await db.close();
    await database.drop();
  }
}

const program = new Command()
  .requiredOption("--collection <folder>", "a folder with corpus.jsonl, queries.jsonl and qrels/test.tsv")
  .option(
    "--direct",
    "call the functions of search in this process; without it texts are uploaded to a service that is " +
      "started for that, and searched",
  )
  .option(
    "--database <url>",
    "a Postgres role that may create databases; without it an embedded server is started",
  )
  .option("--vectors <file>", "keep vectors in files that begin with this name, for the next run")
  .option("--sparse-only", "leave the dense side out");
await main(program.parse().opts<Options>());
