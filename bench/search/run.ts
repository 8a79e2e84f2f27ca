/**
 * Measures latency, cost and quality of search by the size of a space, the number of other tenants and the
 * state of its indexes, and the same of what others use.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { availableParallelism, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import { migrate } from "../../src/db/migrate.ts";
import { inTenant } from "../../src/db/pool.ts";
import { denseCandidates } from "../../src/db/search/embeddings.ts";
import { updateVectorIndexes } from "../../src/db/search/index/vector-indexes.ts";
import { hybridSearch } from "../../test/support/search/hybrid-search.ts";
import { createOrganization, createSpace } from "../../test/support/stack/search-space.ts";
import { makeCorpus } from "./corpus.ts";
import { DIMENSIONS, MODEL, loadRange } from "./load.ts";
import { type Bench, type Measured, ask, header, progress, row, scopeOf } from "./measure.ts";
import { say } from "../report.ts";
import { type LoadedRange, type Rival, loadLance, loadTsRank } from "./rivals.ts";
import { measureStates, measureSteps, measureUnmerged, purge } from "./states.ts";
import { mergeWhatIsDue } from "./merge-segments.ts";
import { openThrowaway, throwawayDatabase } from "../throwaway-database.ts";

interface Options {
  readonly chunks: string;
  readonly spaces: string;
  readonly queries: string;
  readonly loaders: string;
  readonly database?: string;
  readonly rivals?: boolean;
  readonly lancedb?: string;
  readonly states?: boolean;
  readonly headers: string;
}

/** Chunks of each of the other tenants. */
const OTHER_CHUNKS = 500;

async function hybrid(bench: Bench, atOnce: number): Promise<Measured> {
  return ask(bench.queries, atOnce, async (query) => {
    const deps = { db: bench.db, queryEmbedding: { model: MODEL, embed: async () => query.vector } };
    const { results } = await hybridSearch(deps, bench.target, { query: query.text });
    return results.map((hit) => Number(hit.document_name) + hit.chunk_index);
  });
}

/** The share of the ten nearest chunks that search finds, against reading every vector. */
async function recall(bench: Bench): Promise<number> {
  const scope = await scopeOf(bench);
  const modelNum = scope.models[0]!.num;
  let found = 0;
  const queries = bench.queries.slice(0, 100);
  for (const { vector } of queries) {
    const nearest = { query: { vector, modelNum, dimensions: DIMENSIONS }, limit: 100 };
    await inTenant(bench.db, bench.target.organization, async (sql) => {
      const exact = await denseCandidates(
        sql,
        { ...scope, models: [] },
        { required: null, excluded: [] },
        nearest,
      );
      const fast = await denseCandidates(sql, scope, { required: null, excluded: [] }, nearest);
      const names = new Set(fast.slice(0, 10).map((hit) => `${hit.run_num}/${hit.chunk_index}`));
      // Equally near chunks count as the same.
      found += exact
        .slice(0, 10)
        .filter(
          (hit) => names.has(`${hit.run_num}/${hit.chunk_index}`) || hit.cosine === fast[9]?.cosine,
        ).length;
    });
  }
  return found / (queries.length * 10);
}

/**
 * Loads the documents, several transactions at once, and prints its progress.
 * @returns seconds that writing and merging postings took, without analysis
 */
async function loadAll(bench: Bench, documents: readonly number[], loaders: number): Promise<number> {
  const part = Math.ceil(documents.length / Math.max(10, loaders));
  const started = performance.now();
  let seconds = 0;
  let done = 0;
  let next = 0;
  const load = async (): Promise<void> => {
    for (let from = next; from < documents.length; from = next) {
      next += part;
      const range = documents.slice(from, from + part);
      seconds += await loadRange(bench, bench.target, range);
      done += range.length;
      progress(
        `${done * 10} chunks loaded, ${((done * 10_000) / (performance.now() - started)).toFixed(0)} a ` +
          "second with their texts and vectors",
      );
    }
  };
  await Promise.all(Array.from({ length: loaders }, load));
  say(
    `loaded in ${((performance.now() - started) / 1_000).toFixed(0)} s with texts and vectors, made up ` +
      "meanwhile",
  );
  return seconds;
}

/** Makes `spaces - 1` other tenants with a space each. @returns the chunks of every space */
async function addOthers(bench: Bench, chunks: number, spaces: number): Promise<LoadedRange[]> {
  const ranges = [{ space: 1, from: 0, to: chunks }];
  for (let other = 1; other < spaces; other++) {
    const from = chunks + other * OTHER_CHUNKS;
    ranges.push({ space: other + 1, from, to: from + OTHER_CHUNKS });
    const range = Array.from({ length: OTHER_CHUNKS / 10 }, (_, at) => from + at * 10);
    await loadRange(bench, await createSpace(bench.db, await createOrganization(bench.db)), range);
  }
  return ranges;
}

async function askRivals(
  { db, corpus, queries }: Bench,
  options: Options,
  ranges: readonly LoadedRange[],
  folder: string,
): Promise<void> {
  const rivals: (() => Promise<Rival>)[] = [];
  if (options.rivals) rivals.push(() => loadTsRank(db, corpus, ranges, DIMENSIONS));
  if (options.lancedb !== undefined) rivals.push(() => loadLance(options.lancedb!, folder, corpus, ranges));
  for (const load of rivals) {
    const rival = await load();
    for (const atOnce of [1, 8])
      row(
        `${rival.name}, ${ranges.length} tenants`,
        atOnce,
        await ask(queries, atOnce, (query) => rival.search(query, 1)),
      );
  }
}

async function main(options: Options): Promise<void> {
  const chunks = Number(options.chunks);
  const spaces = Number(options.spaces);
  const database = await throwawayDatabase(options.database);
  const db = openThrowaway(database.url, 20);
  const folder = await mkdtemp(join(tmpdir(), "holdfast-lance-"));
  try {
    await migrate(db);
    const corpus = makeCorpus(1, DIMENSIONS);
    const bench: Bench = {
      db,
      corpus,
      target: await createSpace(db, await createOrganization(db)),
      queries: corpus.queries(Number(options.queries), chunks),
      numbers: new Map(),
      headerTerms: Number(options.headers),
    };
    const documents = Array.from({ length: Math.ceil(chunks / 10) }, (_, at) => at * 10);
    const loaders = Number(options.loaders);
    const seconds = await loadAll(bench, documents, loaders);
    say(
      `${chunks} chunks of 150 words in one space, ${DIMENSIONS} dimensions; load ` +
        `${loadavg()[0]!.toFixed(1)} on ${availableParallelism()} cores; indexing and merging alone ` +
        `${(chunks / seconds).toFixed(0)} chunks/s in each of ${loaders} transactions at once`,
    );
    if (options.states) await measureStates(bench, chunks);
    await purge(bench);
    await mergeWhatIsDue(db, bench.target);
    await db.owner.query("analyze");
    if (!options.states) await measureSteps(bench, [{ name: "as published, and what is due merged" }]);
    progress("building the index of vectors");
    const before = performance.now();
    const built = await updateVectorIndexes(db, bench.target.organization.num, bench.target.space.num);
    if (built > 0)
      say(
        `\nvector index built in ${((performance.now() - before) / 1_000).toFixed(0)} s; recall@10 ` +
          `${(await recall(bench)).toFixed(4)}\n`,
      );
    header();
    for (const atOnce of [1, 8]) row("holdfast, 1 tenant", atOnce, await hybrid(bench, atOnce));
    const ranges = await addOthers(bench, chunks, spaces);
    if (spaces > 1)
      for (const atOnce of [1, 8]) row(`holdfast, ${spaces} tenants`, atOnce, await hybrid(bench, atOnce));
    await askRivals(bench, options, ranges, folder);
    if (options.states) await measureUnmerged(bench, documents);
  } finally {
    await db.close();
    await database.drop();
    await rm(folder, { recursive: true, force: true });
  }
}

await new Command("bench:search")
  .description(
    "Hybrid search without query embedding, by size of the space, other tenants and state of the index, " +
      "and side by side with what others do.",
  )
  .option("--chunks <n>", "chunks of the space that is searched", "10000")
  .option("--spaces <n>", "tenants in all; each of the others has 500 chunks", "1")
  .option("--queries <n>", "questions of 3 to 10 words", "200")
  .option(
    "--loaders <n>",
    "transactions that load the space at once; 2 is faster, and the figure of indexing is of each",
    "1",
  )
  .option(
    "--states",
    "also measure the sparse index as published, after a fifth was replaced, and where merging is held back",
  )
  .option("--headers <n>", "terms of the header of each chunk", "0")
  .option("--rivals", "also ts_rank with one shared HNSW graph over the same data")
  .option("--lancedb <folder>", "also LanceDB, from a folder where @lancedb/lancedb is installed")
  .option(
    "--database <url>",
    "a Postgres role that may create databases; without it an embedded server is started",
  )
  .action(main)
  .parseAsync();
