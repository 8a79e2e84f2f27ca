/** SQL that finds segments of another version of the analyzer, and corrects what their runs have counted. */
import type { Sql } from "../../pool.ts";
import type { IndexedSpace } from "./postings.ts";

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

/** Locks the documents of the segment's runs, as publishing does. */
export async function lockDocumentsOf(sql: Sql, segmentNum: number): Promise<void> {
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
}

interface SegmentPart {
  readonly run_num: number;
  readonly first_chunk: number;
  readonly chunk_count: number;
  readonly terms: number;
}

export async function readParts(sql: Sql, segmentNum: number): Promise<SegmentPart[]> {
  const { rows } = await sql.query<SegmentPart>(
    `select run_num, first_chunk, chunk_count, terms
     from posting_runs
     where segment_num = $1`,
    [segmentNum],
  );
  return rows;
}

/**
 * Adds the changes of terms to the totals of the runs and of the space. A run gets the new version of the
 * analyzer once none of its segments has an old one.
 */
export async function correctTotals(
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
