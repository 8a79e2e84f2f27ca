/** SQL of postings: rows of packed blocks. What is in a block is known to src/search/index alone. */
import type { Sql } from "../../pool.ts";

export interface IndexedSpace {
  readonly organizationNum: number;
  readonly spaceNum: number;
}

export interface TermBlock {
  readonly firstTerm: string;
  readonly data: Buffer;
}

/** The `first_term` of the row with the segment's chunks. No term is empty, so it sorts first. */
export const LIST_ROW = "";

/** Consecutive chunks of one run in a new segment. */
export interface NewPart {
  readonly runNum: number;
  readonly firstChunk: number;
  readonly chunkCount: number;
  readonly terms: number;
  readonly headerTerms: number;
}

interface NewSegment {
  readonly analyzerVersion: number;
  readonly languages: readonly string[];
  readonly parts: readonly NewPart[];
}

interface WrittenPart {
  readonly run_num: number;
  readonly first_chunk: number;
  readonly segment_num: number;
}

/** Writes a segment and those of its parts whose first chunk is not indexed yet. @returns these parts. */
export async function insertSegment(
  sql: Sql,
  space: IndexedSpace,
  { analyzerVersion, languages, parts }: NewSegment,
): Promise<WrittenPart[]> {
  const { rows } = await sql.query<WrittenPart>({
    name: "search.insert-segment",
    text: `with segment as (
             insert into posting_segments (organization_num, space_num, analyzer_version, terms, languages)
             values ($1, $2, $3, $8, $9)
             returning num
           )
           insert into posting_runs
             (organization_num, space_num, segment_num, run_num, first_chunk, chunk_count, terms, header_terms)
           select $1, $2, segment.num, part.*
           from segment,
                unnest($4::int[], $5::int[], $6::int[], $7::bigint[], $10::bigint[])
                  part(run_num, first_chunk, chunk_count, terms, header_terms)
           on conflict do nothing
           returning run_num, first_chunk, segment_num`,
    values: [
      space.organizationNum,
      space.spaceNum,
      analyzerVersion,
      parts.map((part) => part.runNum),
      parts.map((part) => part.firstChunk),
      parts.map((part) => part.chunkCount),
      parts.map((part) => part.terms),
      parts.reduce((sum, part) => sum + part.terms, 0),
      languages,
      parts.map((part) => part.headerTerms),
    ],
  });
  return rows;
}

/** Sets the size of the space's segments to that of their parts, and deletes segments without parts. */
export async function correctSegments(sql: Sql, { spaceNum }: IndexedSpace): Promise<void> {
  await sql.query(
    `update posting_segments segment
     set terms = parts.terms
     from (
       select segment_num,
              sum(terms) as terms
       from posting_runs
       where space_num = $1
       group by segment_num
     ) parts
     where segment.num = parts.segment_num
       and segment.terms <> parts.terms`,
    [spaceNum],
  );
  await sql.query(
    `delete from posting_segments segment
     where segment.space_num = $1
       and not exists (
         select
         from posting_runs part
         where part.segment_num = segment.num
       )`,
    [spaceNum],
  );
}

export async function insertBlocks(
  sql: Sql,
  space: IndexedSpace,
  segmentNum: number,
  blocks: readonly TermBlock[],
): Promise<void> {
  await sql.query({
    name: "search.insert-postings",
    text: `insert into postings (organization_num, space_num, segment_num, first_term, data)
           select $1, $2, $3, *
           from unnest($4::text[], $5::bytea[])`,
    values: [
      space.organizationNum,
      space.spaceNum,
      segmentNum,
      blocks.map((block) => block.firstTerm),
      blocks.map((block) => block.data),
    ],
  });
}

interface FoundBlock {
  readonly num: number;
  /** Null in the row that has the segment's list. */
  readonly term: string | null;
  /** Null for a list that is known. */
  readonly data: Buffer | null;
}

interface WantedBlocks {
  readonly terms: readonly string[];
  /** Segments whose lists are not needed. */
  readonly known: readonly number[];
}

/** Returns for each segment of the space its list, and for each term the block that has it, if any has. */
export async function readBlocks(
  sql: Sql,
  spaceNum: number,
  { terms, known }: WantedBlocks,
): Promise<FoundBlock[]> {
  // One index lookup for each term and segment: the last block whose first term is not after the wanted one.
  const { rows } = await sql.query<FoundBlock>({
    name: "search.read-postings",
    text: `select segment.num, wanted.term, block.data
           from posting_segments segment
           cross join unnest($2::text[]) wanted(term)
           cross join lateral (
             select postings.data
             from postings
             where postings.segment_num = segment.num
               and postings.first_term > ''
               and postings.first_term <= wanted.term collate "C"
             order by postings.first_term desc
             limit 1
           ) block
           where segment.space_num = $1
           union all
           select segment.num,
                  null,
                  case when segment.num <> all($3::int[]) then (
                    select postings.data
                    from postings
                    where postings.segment_num = segment.num
                      and postings.first_term = ''
                  ) end
           from posting_segments segment
           where segment.space_num = $1`,
    values: [spaceNum, terms, known],
  });
  return rows;
}

interface StoredBlock {
  /** Of its segment. */
  readonly num: number;
  readonly first_term: string;
  readonly data: Buffer;
}

/** Returns all blocks of the segments, in any order. */
export async function readSegments(sql: Sql, nums: readonly number[]): Promise<StoredBlock[]> {
  const { rows } = await sql.query<StoredBlock>(
    `select segment_num as num, first_term, data
     from postings
     where segment_num = any($1::int[])`,
    [nums],
  );
  return rows;
}
