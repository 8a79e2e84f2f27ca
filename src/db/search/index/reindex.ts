/** Indexes segments again from the texts of their chunks, after the analyzer has changed. */
import type { Sql } from "../../pool.ts";
import { type IndexedChunk, type IndexedSpace, insertPostings } from "./postings.ts";
import { dropSegments } from "./segments.ts";

export interface TextToIndex {
  readonly run_num: number;
  readonly chunk_index: number;
  readonly header: string | null;
  readonly text: string;
}

/** Returns a segment of the space that another version of the analyzer made, if there is one. */
export async function findOutdatedSegment(
  sql: Sql,
  spaceNum: number,
  analyzerVersion: number,
): Promise<number | undefined> {
  const { rows } = await sql.query<{ num: number }>(
    `select num
     from posting_segments
     where space_num = $1
       and analyzer_version <> $2
     order by num
     limit 1`,
    [spaceNum, analyzerVersion],
  );
  return rows[0]?.num;
}

export async function readSegmentTexts(sql: Sql, segmentNum: number): Promise<TextToIndex[]> {
  const { rows } = await sql.query<TextToIndex>(
    `select chunk.run_num, chunk.chunk_index, chunk.header, chunk.text
     from posting_runs part
     join chunks chunk
       on chunk.run_num = part.run_num
      and chunk.chunk_index >= part.first_chunk
      and chunk.chunk_index < part.first_chunk + part.chunk_count
     where part.segment_num = $1
     order by chunk.run_num, chunk.chunk_index`,
    [segmentNum],
  );
  return rows;
}

interface Rewrite extends IndexedSpace {
  readonly segmentNum: number;
  readonly analyzerVersion: number;
}

/**
 * Replaces a segment by an index of the given chunks, and corrects the totals of their runs and of the space,
 * in the caller's transaction. Locks their documents as publishing does, so that the totals stay consistent.
 * Skips a segment that is gone since its texts were read, or that another transaction has locked.
 * @returns whether it was replaced.
 */
export async function rewriteSegment(
  sql: Sql,
  { segmentNum, analyzerVersion, ...space }: Rewrite,
  chunks: readonly IndexedChunk[],
): Promise<boolean> {
  await sql.query(
    `select
     from documents document
     where document.id in (
       select run.document_id
       from posting_runs part
       join pipeline_runs run on run.num = part.run_num
       where part.segment_num = $1
     )
     order by document.id
     for update of document`,
    [segmentNum],
  );
  const locked = await sql.query(
    `select
     from posting_segments
     where num = $1
     for update skip locked`,
    [segmentNum],
  );
  if (locked.rowCount === 0) return false;
  const { rows: parts } = await sql.query<{
    run_num: number;
    first_chunk: number;
    chunk_count: number;
    terms: number;
  }>(
    `select run_num, first_chunk, chunk_count, terms
     from posting_runs
     where segment_num = $1`,
    [segmentNum],
  );
  const byRun = Map.groupBy(chunks, (chunk) => chunk.runNum);
  await dropSegments(sql, [segmentNum]);
  const changes = new Map<number, number>();
  const kept = parts.map((part) => ({
    ...part,
    chunks: (byRun.get(part.run_num) ?? []).filter(
      (chunk) =>
        chunk.chunkIndex >= part.first_chunk && chunk.chunkIndex < part.first_chunk + part.chunk_count,
    ),
  }));
  for (const part of kept) {
    const terms = part.chunks.reduce((sum, chunk) => sum + chunk.terms.length, 0);
    changes.set(part.run_num, (changes.get(part.run_num) ?? 0) + terms - part.terms);
  }
  await insertPostings(
    sql,
    space,
    kept.flatMap((part) => part.chunks),
    analyzerVersion,
  );
  await correctTotals(sql, space, changes, analyzerVersion);
  return true;
}

/** A run gets the new version of the analyzer once none of its segments has an old one. */
async function correctTotals(
  sql: Sql,
  { organizationNum, spaceNum }: IndexedSpace,
  changes: ReadonlyMap<number, number>,
  analyzerVersion: number,
): Promise<void> {
  const values = [[...changes.keys()], [...changes.values()]];
  await sql.query(
    `update pipeline_runs run
     set term_count = run.term_count + change.terms,
         analyzer_version = case
           when exists (
             select
             from posting_runs part
             join posting_segments segment on segment.num = part.segment_num
             where part.run_num = run.num
               and segment.analyzer_version <> $3
           ) then run.analyzer_version
           else $3
         end
     from unnest($1::int[], $2::bigint[]) change(num, terms)
     where run.num = change.num`,
    [...values, analyzerVersion],
  );
  await sql.query(
    `insert into space_statistics (organization_num, space_num, chunks, terms)
     select $3, $4, 0, sum(change.terms)
     from unnest($1::int[], $2::bigint[]) change(num, terms)
     where exists (
       select
       from documents document
       where document.published_run_num = change.num
         and document.deleted_at is null
     )
     having sum(change.terms) <> 0`,
    [...values, organizationNum, spaceNum],
  );
}
