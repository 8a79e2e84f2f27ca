/** Measures retrieval by the functions of search in this process, over whole texts. */
import { register as registry } from "prom-client";
import { migrate } from "../../../src/db/migrate.ts";
import { inTenant } from "../../../src/db/pool.ts";
import { denseCandidates } from "../../../src/db/search/embeddings.ts";
import { type ChunkKey, readSearchScope } from "../../../src/db/search/scope.ts";
import type { EmbeddingModel } from "../../../src/models/embedding/embedding-model.ts";
import { createLocalMiniLm } from "../../../src/models/embedding/local-minilm.ts";
import { scoreSparse } from "../../../src/search/bm25.ts";
import { createChunkSet } from "../../../src/search/chunk-set.ts";
import { hybridSearch } from "../../../test/support/search/hybrid-search.ts";
import { analyzeQuery } from "../../../src/search/text/analyzer.ts";
import type { OwnedDatabase } from "../../../test/support/servers/database.ts";
import {
  type SearchSpace,
  createOrganization,
  createSpace,
  publishDocuments,
} from "../../../test/support/stack/search-space.ts";
import { say } from "../../report.ts";
import { openThrowaway, throwawayDatabase } from "../../throwaway-database.ts";
import { type Collection, type Entry, type Question, textOf } from "./collection.ts";
import { sayConditions } from "./conditions.ts";
import { embedAll } from "./embed.ts";
import { DEPTH, type Measures, measure } from "./measures.ts";
import { stagesIn } from "./stages.ts";
import type { Measured } from "./table.ts";

export interface DirectOptions {
  readonly database?: string;
  /** Vectors are kept in files whose names begin with it. */
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
  questions: readonly Question[],
  vectors: readonly Float32Array[] | null,
): Promise<Measured> {
  const sides = { words: [] as Measures[], dense: [] as Measures[], hybrid: [] as Measures[] };
  const times: number[] = [];
  const before = stagesIn(await registry.metrics());
  for (const [at, { text, grades }] of questions.entries()) {
    const vector = vectors?.[at] ?? null;
    const found = await sidesOf(loaded, text, vector);
    sides.words.push(measure(found.sparse, grades));
    if (vector === null) continue;
    sides.dense.push(measure(found.dense, grades));
    const started = performance.now();
    const { results: hits } = await hybridSearch(
      { db: loaded.db, queryEmbedding: { model: loaded.model, embed: async () => vector } },
      loaded.target,
      { query: text, limit: DEPTH },
    );
    times.push(performance.now() - started);
    const ranking = hits.map((hit) => loaded.byDocument.get(hit.document_id)!);
    sides.hybrid.push(measure(ranking, grades));
  }
  const after = new Map(stagesIn(await registry.metrics()));
  // Vectors are made beforehand, so there is nothing to tell of.
  after.delete("embed query");
  return { sides, times, stages: { before, after } };
}

/** One database for all, with an organization for each collection. */
export async function measureDirectly(
  collections: AsyncIterable<Collection>,
  { database: admin, vectors: prefix, sparseOnly }: DirectOptions,
  onMeasured: (collection: Collection, measured: Measured) => Promise<void>,
): Promise<void> {
  const database = await throwawayDatabase(admin);
  const db = openThrowaway(database.url, 10);
  const model = createLocalMiniLm();
  try {
    await migrate(db);
    await sayConditions(db, model);
    for await (const collection of collections) {
      const { name, corpus, questions } = collection;
      const embed = async (texts: readonly string[], kind: "query" | "passage") =>
        sparseOnly
          ? null
          : embedAll(model, texts, kind, prefix === undefined ? undefined : `${prefix}.${name}.${kind}`);
      const loaded = await load(db, model, corpus, await embed(corpus.map(textOf), "passage"));
      const asked = await embed(
        questions.map(({ text }) => text),
        "query",
      );
      await onMeasured(collection, await evaluate(loaded, questions, asked));
    }
  } finally {
    await model.close();
    await db.close();
    await database.drop();
  }
}
