/** The only SQL that writes a segment anew from the text of its chunks: where another version of the analyzer made its terms. */
import type { Sql } from "../../pool.ts";
import { type IndexedChunk, type IndexedSpace, insertPostings } from "./postings.ts";
import { dropSegments } from "./segments.ts";

export interface TextToIndex {
  readonly run_num: number;
  readonly chunk_index: number;
  readonly text: string;
}

/** A segment of the space that another version of the analyzer made. */
export async function findOutdatedSegment(
  sql: Sql,
  spaceNum: number,
  analyzerVersion: number,
): Promise<number | undefined> {
  const { rows } = await sql.query<{ num: number }>(
    "select num from posting_segments where space_num = $1 and analyzer_version <> $2 order by num limit 1",
    [spaceNum, analyzerVersion],
  );
  return rows[0]?.num;
}

/** The texts of the segment's chunks, by run and index. */
export async function readSegmentTexts(sql: Sql, segmentNum: number): Promise<TextToIndex[]> {
  const { rows } = await sql.query<TextToIndex>(
    `select c.run_num, c.chunk_index, c.text from posting_runs p
     join chunks c on c.run_num = p.run_num and c.chunk_index >= p.first_chunk and c.chunk_index < p.first_chunk + p.chunk_count
     where p.segment_num = $1 order by c.run_num, c.chunk_index`,
    [segmentNum],
  );
  return rows;
}

interface Rewrite extends IndexedSpace {
  readonly segmentNum: number;
  readonly analyzerVersion: number;
}

/**
 * Replaces a segment by what the given chunks are indexed as, and corrects the totals of their runs and of the space, in the caller's
 * transaction. Their documents are locked as a publish locks them, so that totals are of one version. A segment that changed since its
 * texts were read, or that somebody else has in hand, is left as it is. @returns whether it was replaced.
 */
export async function rewriteSegment(
  sql: Sql,
  { segmentNum, analyzerVersion, ...space }: Rewrite,
  chunks: readonly IndexedChunk[],
): Promise<boolean> {
  await sql.query(
    `select from documents d where d.id in (select r.document_id from posting_runs p join pipeline_runs r on r.num = p.run_num where p.segment_num = $1)
     order by d.id for update of d`,
    [segmentNum],
  );
  const held = await sql.query("select from posting_segments where num = $1 for update skip locked", [
    segmentNum,
  ]);
  if (held.rowCount === 0) return false;
  const { rows: parts } = await sql.query<{
    run_num: number;
    first_chunk: number;
    chunk_count: number;
    terms: number;
  }>("select run_num, first_chunk, chunk_count, terms from posting_runs where segment_num = $1", [
    segmentNum,
  ]);
  const byRun = Map.groupBy(chunks, (chunk) => chunk.runNum);
  await dropSegments(sql, [segmentNum]);
  const changes = new Map<number, number>();
  // A part has the first chunk that it was indexed under, and all that was in it.
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

/** A run of which only a part is rewritten yet keeps its version's number until the last. */
async function correctTotals(
  sql: Sql,
  { organizationNum, spaceNum }: IndexedSpace,
  changes: ReadonlyMap<number, number>,
  analyzerVersion: number,
): Promise<void> {
  const values = [[...changes.keys()], [...changes.values()]];
  await sql.query(
    `update pipeline_runs r set term_count = r.term_count + c.terms, analyzer_version = case when exists (
         select from posting_runs p join posting_segments s on s.num = p.segment_num where p.run_num = r.num and s.analyzer_version <> $3) then r.analyzer_version else $3 end
     from unnest($1::int[], $2::bigint[]) c(num, terms) where r.num = c.num`,
    [...values, analyzerVersion],
  );
  await sql.query(
    `insert into space_statistics (organization_num, space_num, chunks, terms)
     select $3, $4, 0, sum(c.terms) from unnest($1::int[], $2::bigint[]) c(num, terms)
     where exists (select from documents d where d.published_run_num = c.num and d.deleted_at is null) having sum(c.terms) <> 0`,
    [...values, organizationNum, spaceNum],
  );
}
