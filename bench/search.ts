/** Latency, cost and quality of search by the size of a space, the number of other tenants and the state of its indexes; and of what others do. */
import { mkdtemp, rm } from "node:fs/promises";
import { availableParallelism, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import { migrate } from "../src/db/migrate.ts";
import { type Database, inTenant, openDatabase } from "../src/db/pool.ts";
import { denseCandidates } from "../src/db/search/embeddings.ts";
import { hideRun } from "../src/db/search/hidden.ts";
import { readSearchScope } from "../src/db/search/scope.ts";
import { findSegmentsToPurge, mergeSegments, purgeSegment } from "../src/db/search/segments.ts";
import { addStatistics } from "../src/db/search/statistics.ts";
import { tendVectorIndexes } from "../src/db/search/vector-indexes.ts";
import { analyzeQuery } from "../src/search/analyzer.ts";
import { scoreSparse } from "../src/search/bm25.ts";
import { createChunkSet } from "../src/search/chunk-set.ts";
import { hybridSearch } from "../src/search/hybrid.ts";
import { type SearchSpace, createOrganization, createSpace } from "../test/support/search-space.ts";
import { type MadeCorpus, type MadeQuery, makeCorpus } from "./search-corpus.ts";
import { DIMENSIONS, MODEL, loadRange } from "./search-load.ts";
import { type Rival, loadLance, loadTsRank } from "./search-rivals.ts";
import { throwawayDatabase } from "./throwaway-database.ts";

interface Options {
  readonly chunks: string;
  readonly spaces: string;
  readonly queries: string;
  readonly database?: string;
  readonly rivals?: boolean;
  readonly lancedb?: string;
  readonly states?: boolean;
}

/** Chunks of each of the other tenants. */
const OTHER_CHUNKS = 500;

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const percentile = (times: readonly number[], share: number): string => times.toSorted((one, other) => one - other)[Math.floor(times.length * share)]!.toFixed(1);

interface Measured {
  readonly times: number[];
  readonly seconds: number;
  /** Of the chunk that each question was made from, among the first ten. */
  readonly mrr: number;
  readonly found: number;
}

/** Asks every question once, `atOnce` at a time, after a fifth of them for warmth. */
async function ask(queries: readonly MadeQuery[], atOnce: number, search: (query: MadeQuery) => Promise<number[]>): Promise<Measured> {
  for (const query of queries.slice(0, Math.ceil(queries.length / 5))) await search(query);
  const times: number[] = [];
  let [mrr, found, next] = [0, 0, 0];
  const started = performance.now();
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (let at = next++; at < queries.length; at = next++) {
        const before = performance.now();
        const rank = (await search(queries[at]!)).indexOf(queries[at]!.about);
        times.push(performance.now() - before);
        if (rank === -1) continue;
        mrr += 1 / (rank + 1);
        found++;
      }
    }),
  );
  return { times, seconds: (performance.now() - started) / 1_000, mrr: mrr / queries.length, found: found / queries.length };
}

function row(name: string, atOnce: number, { times, seconds, mrr, found }: Measured): void {
  say(`| ${name} | ${atOnce} | ${percentile(times, 0.5)} / ${percentile(times, 0.95)} | ${(times.length / seconds).toFixed(0)} | ${mrr.toFixed(3)} | ${found.toFixed(3)} |`);
}

const header = (): void => {
  say("| search | at once | p50 / p95 (ms) | a second | MRR@10 | found in 10 |");
  say("|---|---|---|---|---|---|");
};

interface Bench {
  readonly db: Database;
  readonly corpus: MadeCorpus;
  readonly target: SearchSpace;
  readonly queries: readonly MadeQuery[];
  /** Number of each chunk by its run and index; runs have ten. */
  readonly numbers: Map<string, number>;
}

const everything = { required: null, excluded: createChunkSet(0) };
const unfiltered = { documentIds: null, folderIds: null };
const scopeOf = ({ db, target }: Bench) => inTenant(db, target.organization, (sql) => readSearchScope(sql, { space: target.space, filter: unfiltered }));

/** The sparse side as a search runs it: the scope is read before by the other side's connection. */
async function sparse(bench: Bench): Promise<Measured> {
  const scope = await scopeOf(bench);
  return ask(bench.queries, 1, (query) =>
    inTenant(bench.db, bench.target.organization, async (sql) => {
      const scores = await scoreSparse(sql, scope, analyzeQuery(query.text, scope.languages));
      return scores.best(everything, 100).map((hit) => bench.numbers.get(`${hit.run_num}/${hit.chunk_index}`)!);
    }),
  );
}

async function hybrid(bench: Bench, atOnce: number): Promise<Measured> {
  return ask(bench.queries, atOnce, async (query) => {
    const deps = { db: bench.db, queryEmbedding: { model: MODEL, embed: async () => query.vector } };
    const { results } = await hybridSearch(deps, bench.target, { query: query.text });
    return results.map((hit) => Number(hit.document_name) + hit.chunk_index);
  });
}

/** Share of the ten nearest that the search of a large space finds, against reading every vector. */
async function recall(bench: Bench): Promise<number> {
  const scope = await scopeOf(bench);
  const modelNum = scope.models[0]!.num;
  let found = 0;
  const queries = bench.queries.slice(0, 100);
  for (const { vector } of queries) {
    const nearest = { query: { vector, modelNum, dimensions: DIMENSIONS }, limit: 100 };
    await inTenant(bench.db, bench.target.organization, async (sql) => {
      const exact = await denseCandidates(sql, { ...scope, models: [] }, { required: null, excluded: [] }, nearest);
      const fast = await denseCandidates(sql, scope, { required: null, excluded: [] }, nearest);
      const names = new Set(fast.slice(0, 10).map((hit) => `${hit.run_num}/${hit.chunk_index}`));
      // Equally near ones stand for each other.
      found += exact.slice(0, 10).filter((hit) => names.has(`${hit.run_num}/${hit.chunk_index}`) || hit.cosine === fast[9]?.cosine).length;
    });
  }
  return found / (queries.length * 10);
}

async function sizes({ db, target }: Bench): Promise<{ chunks: number; segments: number; bytes: number }> {
  const { rows } = await db.owner.query<{ chunks: number; segments: number; bytes: number }>(
    `select (select sum(chunks) from space_statistics)::int as chunks, (select count(*) from posting_segments where space_num = $1)::int as segments,
            pg_total_relation_size('postings') + pg_total_relation_size('posting_runs') + pg_total_relation_size('posting_segments') as bytes`,
    [target.space.num],
  );
  return rows[0]!;
}

async function state(bench: Bench, name: string): Promise<void> {
  const { chunks, segments, bytes } = await sizes(bench);
  const { times } = await sparse(bench);
  say(`| ${name} | ${segments} | ${(bytes / chunks / 1_000).toFixed(2)} | ${percentile(times, 0.5)} / ${percentile(times, 0.95)} |`);
}

const tenant = <T>({ db, target }: Bench, work: Parameters<typeof inTenant<T>>[2]): Promise<T> => inTenant(db, target.organization, work);

async function merge(bench: Bench, most = Infinity): Promise<void> {
  const { organization, space } = bench.target;
  for (let rounds = 0; rounds < most && (await tenant(bench, (sql) => mergeSegments(sql, organization.num, space.num))) > 0;) rounds++;
}

async function purge(bench: Bench): Promise<void> {
  const segments = await tenant(bench, (sql) => findSegmentsToPurge(sql, { spaceNum: bench.target.space.num }));
  for (const segment of segments) await tenant(bench, (sql) => purgeSegment(sql, segment));
}

/** Replaces every fifth document by another with the same text, and hides the one before, as a publish does. */
async function replaceFifth(bench: Bench, chunks: number): Promise<void> {
  const { db, target } = bench;
  const documents = Array.from({ length: Math.floor(chunks / 10 / 5) }, (_, at) => at * 50);
  const { organization, space } = target;
  for (let from = 0; from < documents.length; from += 50) {
    const part = documents.slice(from, from + 50);
    const { rows } = await db.owner.query<{ id: string; run: number }>(
      "update documents set deleted_at = now() where space_id = $1 and deleted_at is null and name = any($2::text[]) returning id, published_run_num as run",
      [space.id, part.map(String)],
    );
    await inTenant(db, organization, async (sql) => {
      for (const { run } of rows) {
        await hideRun(sql, { organizationNum: organization.num, spaceNum: space.num, runNum: run, reason: "superseded" });
        await sql.query(`delete from embeddings where space_num = ${space.num} and run_num = $1`, [run]);
      }
      await addStatistics(sql, { organizationNum: organization.num, spaceNum: space.num, chunks: -rows.length * 10, terms: -rows.length * 1_500, embeddingModel: MODEL.name });
    });
    await loadRange(bench, target, part);
  }
}

async function states(bench: Bench, chunks: number): Promise<void> {
  say("\n| state of the index | segments | KB a chunk | sparse p50 / p95 (ms) |");
  say("|---|---|---|---|");
  await state(bench, "as published, merged by who published");
  await replaceFifth(bench, chunks);
  await state(bench, "a fifth replaced, not purged");
  await purge(bench);
  await merge(bench);
  await state(bench, "a fifth replaced, purged and merged");
}

/** What queries cost where nothing merges: in a second space of the same documents. */
async function heldBack(bench: Bench, documents: readonly number[]): Promise<void> {
  const other: Bench = { ...bench, target: await createSpace(bench.db, await createOrganization(bench.db)), numbers: new Map() };
  await loadRange({ ...other, isMerging: false }, other.target, documents);
  say("\n| merging held back | segments | KB a chunk of all spaces | sparse p50 / p95 (ms) |");
  say("|---|---|---|---|");
  await state(other, "500 chunks a segment");
  await merge(other, Math.ceil(documents.length / 50 / MERGED_AT_ONCE / 2));
  await state(other, "half merged");
  await merge(other);
  await state(other, "merged");
}

const MERGED_AT_ONCE = 26;

async function main(options: Options): Promise<void> {
  const [chunks, spaces] = [Number(options.chunks), Number(options.spaces)];
  const database = await throwawayDatabase(options.database);
  const db = openDatabase({ url: database.url, poolSize: 20, onIdleError: () => undefined });
  const folder = await mkdtemp(join(tmpdir(), "holdfast-lance-"));
  try {
    await migrate(db);
    const corpus = makeCorpus(1, DIMENSIONS);
    const bench: Bench = { db, corpus, target: await createSpace(db, await createOrganization(db)), queries: corpus.queries(Number(options.queries), chunks), numbers: new Map() };
    const documents = Array.from({ length: Math.ceil(chunks / 10) }, (_, at) => at * 10);
    const seconds = await loadRange(bench, bench.target, documents);
    say(
      `${chunks} chunks of 150 words in one space, ${DIMENSIONS} dimensions; load ${loadavg()[0]!.toFixed(1)} on ${availableParallelism()} cores; indexing and merging alone ${(chunks / seconds).toFixed(0)} chunks/s`,
    );
    if (options.states) await states(bench, chunks);
    await purge(bench);
    await merge(bench);
    await db.owner.query("analyze");
    const before = performance.now();
    const built = await tendVectorIndexes(db, bench.target.organization.num, bench.target.space.num);
    if (built > 0) say(`\nvector index built in ${((performance.now() - before) / 1_000).toFixed(0)} s; recall@10 ${(await recall(bench)).toFixed(4)}\n`);
    header();
    for (const atOnce of [1, 8]) row("holdfast, 1 tenant", atOnce, await hybrid(bench, atOnce));
    const ranges = [{ space: 1, from: 0, to: chunks }];
    for (let other = 1; other < spaces; other++) {
      const from = chunks + other * OTHER_CHUNKS;
      ranges.push({ space: other + 1, from, to: from + OTHER_CHUNKS });
      const range = Array.from({ length: OTHER_CHUNKS / 10 }, (_, at) => from + at * 10);
      await loadRange(bench, await createSpace(db, await createOrganization(db)), range);
    }
    if (spaces > 1) for (const atOnce of [1, 8]) row(`holdfast, ${spaces} tenants`, atOnce, await hybrid(bench, atOnce));
    const rivals: (() => Promise<Rival>)[] = [];
    if (options.rivals) rivals.push(() => loadTsRank(db, corpus, ranges, DIMENSIONS));
    if (options.lancedb !== undefined) rivals.push(() => loadLance(options.lancedb!, folder, corpus, ranges));
    for (const load of rivals) {
      const rival = await load();
      for (const atOnce of [1, 8]) row(`${rival.name}, ${spaces} tenants`, atOnce, await ask(bench.queries, atOnce, (query) => rival.search(query, 1)));
    }
    if (options.states) await heldBack(bench, documents);
  } finally {
    await db.close();
    await database.drop();
    await rm(folder, { recursive: true, force: true });
  }
}

await new Command("bench:search")
  .description("Hybrid search without query embedding, by size of the space, other tenants and state of the index, and side by side with what others do.")
  .option("--chunks <n>", "chunks of the space that is searched", "10000")
  .option("--spaces <n>", "tenants in all; each of the others has 500 chunks", "1")
  .option("--queries <n>", "questions of 3 to 10 words", "200")
  .option("--states", "also measure the sparse index as published, after a fifth was replaced, and where merging is held back")
  .option("--rivals", "also ts_rank with one shared HNSW graph over the same data")
  .option("--lancedb <folder>", "also LanceDB, from a folder where @lancedb/lancedb is installed")
  .option("--database <url>", "a Postgres role that may create databases; without it an embedded server is started")
  .action(main)
  .parseAsync();
