/**
 * Measures the sparse side by the state of its index: as published, after documents were replaced, and with
 * merging held back.
 */
import { inTenant } from "../../src/db/pool.ts";
import { hideRun } from "../../src/db/search/hidden.ts";
import { findSegmentsToPurge } from "../../src/db/search/index/due-segments.ts";
import { purgeSegment } from "../../src/search/index/segments.ts";
import { analyzeQuery } from "../../src/search/text/analyzer.ts";
import { scoreSparse } from "../../src/search/bm25.ts";
import { createChunkSet } from "../../src/search/chunk-set.ts";
import { createOrganization, createSpace } from "../../test/support/stack/search-space.ts";
import { addStatistics } from "../../test/support/stack/statistics.ts";
import { MODEL, loadRange } from "./load.ts";
import { mergeWhatIsDue } from "./merge-segments.ts";
import { type Bench, type Measured, ask, medianAnd95, scopeOf } from "./measure.ts";
import { say } from "../report.ts";

/** A merge takes as many segments of 500 chunks as it may hold. */
const MERGED_AT_ONCE = 53;

const everything = { required: null, excluded: createChunkSet(0) };

/** The sparse side as a search runs it: the scope is read before by the other side's connection. */
async function sparse(bench: Bench): Promise<Measured> {
  const scope = await scopeOf(bench);
  return ask(bench.queries, 1, (query) =>
    inTenant(bench.db, bench.target.organization, async (sql) => {
      const scores = await scoreSparse(sql, scope, analyzeQuery(query.text, scope.languages));
      return scores
        .best(everything, 100)
        .map((hit) => bench.numbers.get(`${hit.run_num}/${hit.chunk_index}`)!);
    }),
  );
}

async function sizes({ db, target }: Bench): Promise<{ chunks: number; segments: number; bytes: number }> {
  const { rows } = await db.owner.query<{ chunks: number; segments: number; bytes: number }>(
    `select (select sum(chunks) from space_statistics)::int                      as chunks,
            (select count(*) from posting_segments where space_num = $1)::int    as segments,
            pg_total_relation_size('postings')
              + pg_total_relation_size('posting_runs')
              + pg_total_relation_size('posting_segments')                       as bytes`,
    [target.space.num],
  );
  return rows[0]!;
}

async function state(bench: Bench, name: string): Promise<void> {
  const { chunks, segments, bytes } = await sizes(bench);
  const { times } = await sparse(bench);
  say(`| ${name} | ${segments} | ${(bytes / chunks / 1_000).toFixed(2)} | ${medianAnd95(times)} |`);
}

const tenant = <T>({ db, target }: Bench, work: Parameters<typeof inTenant<T>>[2]): Promise<T> =>
  inTenant(db, target.organization, work);

export async function purge(bench: Bench): Promise<void> {
  const segments = await tenant(bench, (sql) =>
    findSegmentsToPurge(sql, { spaceNum: bench.target.space.num }),
  );
  for (const segment of segments) await tenant(bench, (sql) => purgeSegment(sql, segment));
}

/**
 * Replaces every fifth document by another with the same text, and hides the one before, as a publish does.
 */
async function replaceFifth(bench: Bench, chunks: number): Promise<void> {
  const { db, target } = bench;
  const documents = Array.from({ length: Math.floor(chunks / 10 / 5) }, (_, at) => at * 50);
  const { organization, space } = target;
  for (let from = 0; from < documents.length; from += 50) {
    const part = documents.slice(from, from + 50);
    const { rows } = await db.owner.query<{ id: string; run: number }>(
      `update documents
       set    deleted_at = now()
       where  space_id = $1
       and    deleted_at is null
       and    name = any($2::text[])
       returning id, published_run_num as run`,
      [space.id, part.map(String)],
    );
    await inTenant(db, organization, async (sql) => {
      for (const { run } of rows) {
        await hideRun(sql, {
          organizationNum: organization.num,
          spaceNum: space.num,
          runNum: run,
          reason: "superseded",
        });
        await sql.query("delete from embeddings where space_num = $1 and run_num = $2", [space.num, run]);
      }
      await addStatistics(sql, {
        organizationNum: organization.num,
        spaceNum: space.num,
        chunks: -rows.length * 10,
        terms: -rows.length * 1_500,
        embeddingModel: MODEL.name,
      });
    });
    await loadRange(bench, target, part);
  }
}

/** Segments of one size that wait for one more before they are merged. */
const WAITING = 3;
/** Publishes of 500 chunks: four become one segment of the next size. */
const WAITING_PUBLISHES = 4 + WAITING;
/** A number higher than that of any chunk that is asked for. */
const FURTHER_CHUNKS = 50_000_000;

/** Publishes as many segments of 500 chunks, and of one document, as can be left unmerged. */
async function fillSizes(bench: Bench): Promise<void> {
  for (let at = 0; at < WAITING_PUBLISHES; at++) {
    const from = FURTHER_CHUNKS + at * 1_000;
    await loadRange(
      bench,
      bench.target,
      Array.from({ length: 50 }, (_, document) => from + document * 10),
    );
  }
  for (let at = 0; at < WAITING; at++)
    await loadRange(bench, bench.target, [FURTHER_CHUNKS + at * 1_000 + 500]);
}

interface Step {
  readonly name: string;
  readonly change?: () => Promise<void>;
}

/** Prints a table of what the sparse side costs after each change. */
export async function measureSteps(bench: Bench, steps: readonly Step[]): Promise<void> {
  say("\n| state of the index | segments | KB a chunk of all spaces | sparse p50 / p95 (ms) |");
  say("|---|---|---|---|");
  for (const { name, change } of steps) {
    await change?.();
    await state(bench, name);
  }
}

/** Measures the index as published, after more publishes, and after a fifth was replaced. */
export async function measureStates(bench: Bench, chunks: number): Promise<void> {
  await measureSteps(bench, [
    { name: "as published, merged by who published" },
    { name: "the most segments that publishing leaves", change: () => fillSizes(bench) },
    { name: "a fifth replaced, not purged", change: () => replaceFifth(bench, chunks) },
    {
      name: "a fifth replaced, purged and merged",
      change: async () => {
        await purge(bench);
        await mergeWhatIsDue(bench.db, bench.target);
      },
    },
  ]);
}

/** Measures queries while nothing is merged, in a second space of the same documents. */
export async function measureUnmerged(bench: Bench, documents: readonly number[]): Promise<void> {
  const other: Bench = {
    ...bench,
    target: await createSpace(bench.db, await createOrganization(bench.db)),
    numbers: new Map(),
  };
  await loadRange({ ...other, isMerging: false }, other.target, documents);
  await measureSteps(other, [
    { name: "merging held back: 500 chunks a segment" },
    {
      name: "half merged",
      change: () =>
        mergeWhatIsDue(other.db, other.target, Math.ceil(documents.length / 50 / MERGED_AT_ONCE / 2)),
    },
    { name: "merged", change: () => mergeWhatIsDue(other.db, other.target) },
  ]);
}
