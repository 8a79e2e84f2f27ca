/**
 * Measures retrieval quality on a collection in BEIR's format: nDCG@10, recall@100 and MRR@10 of the sparse
 * side, the dense side and both.
 */
import { availableParallelism } from "node:os";
import { Command } from "commander";
import { migrate } from "../../src/db/migrate.ts";
import { inTenant } from "../../src/db/pool.ts";
import { denseCandidates } from "../../src/db/search/embeddings.ts";
import { type ChunkKey, readSearchScope } from "../../src/db/search/scope.ts";
import type { EmbeddingModel } from "../../src/models/embedding/embedding-model.ts";
import { createLocalMiniLm } from "../../src/models/embedding/local-minilm.ts";
import { scoreSparse } from "../../src/search/bm25.ts";
import { createChunkSet } from "../../src/search/chunk-set.ts";
import { hybridSearch } from "../../src/search/hybrid.ts";
import { analyzeQuery } from "../../src/search/text/analyzer.ts";
import type { OwnedDatabase } from "../../test/support/servers/database.ts";
import {
  type SearchSpace,
  createOrganization,
  createSpace,
  publishDocuments,
} from "../../test/support/stack/search-space.ts";
import { percentile, say } from "../report.ts";
import { openThrowaway, throwawayDatabase } from "../throwaway-database.ts";
import { type Collection, type Entry, readCollection, textOf } from "./quality/collection.ts";
import { embedAll } from "./quality/embed.ts";
import { DEPTH, type Measures, meansOf, measure } from "./quality/measures.ts";
import { measureThroughApi } from "./quality/through-api.ts";

interface Options {
  readonly collection: string;
  readonly direct?: boolean;
  readonly database?: string;
  readonly vectors?: string;
  readonly sparseOnly?: boolean;
}

const DOCUMENTS_AT_ONCE = 64;

interface Loaded {
  readonly db: OwnedDatabase;
  readonly target: SearchSpace;
  readonly model: EmbeddingModel;
  /** The collection's name of each document, by its run. */
  readonly byRun: ReadonlyMap<number, string>;
  /** The same, by the id of the document. */
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
  say(`${corpus.length} documents loaded in ${((performance.now() - started) / 1000).toFixed(1)} s`);
  await db.owner.query("vacuum analyze postings, embeddings, chunks, documents");
  return { db, target, model, byRun, byDocument };
}

/** The documents that each side finds by itself, best first. */
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
  { queries, judgements }: Pick<Collection, "queries" | "judgements">,
  vectors: readonly Float32Array[] | null,
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
  say(
    `${results.sparse.length} queries, ${loaded.byRun.size} documents, ${loaded.model.name}, alpha ` +
      `${loaded.model.fusion.alpha}, PostgreSQL ${version}, ${availableParallelism()} cores`,
  );
  say("         nDCG@10 recall@100  MRR@10");
  for (const [side, all] of Object.entries(results))
    if (all.length > 0) say(`${side.padEnd(8)} ${meansOf(all)}`);
  if (times.length > 0)
    say(
      `hybrid without query embedding, ${DEPTH} results: p50 ${percentile(times, 0.5).toFixed(1)} ms, p95 ` +
        `${percentile(times, 0.95).toFixed(1)} ms`,
    );
}

async function main(options: Options): Promise<void> {
  const collection = await readCollection(options.collection);
  return options.direct ? measureDirectly(collection, options) : measureThroughApi(collection);
}

async function measureDirectly(collection: Collection, options: Options): Promise<void> {
  const database = await throwawayDatabase(options.database);
  const db = openThrowaway(database.url, 10);
  const model = createLocalMiniLm();
  try {
    await migrate(db);
    const { corpus, queries } = collection;
    const cache = (name: string): string | undefined =>
      options.vectors === undefined ? undefined : `${options.vectors}.${name}`;
    const embed = async (entries: readonly Entry[], kind: "query" | "passage", name: string) =>
      options.sparseOnly ? null : embedAll(model, entries.map(textOf), kind, cache(name));
    const loaded = await load(db, model, corpus, await embed(corpus, "passage", "corpus"));
    await evaluate(loaded, collection, await embed(queries, "query", "queries"));
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
