/** Counts what postings contain, to check that nothing of a run is missing. Reads whole segments. */
import type { Sql } from "../../pool.ts";
import { eachPosting, unpackChunks } from "./posting-blocks.ts";
import { LIST_ROW } from "./postings.ts";
import { readBlock } from "./term-blocks.ts";

/**
 * Counts the terms of each run's texts, with repetitions, over all postings of the segments: what postings
 * count, without what the headers of chunks added to it.
 * @returns by run number.
 */
export async function countIndexedTerms(
  sql: Sql,
  segmentNums: readonly number[],
): Promise<Map<number, number>> {
  const terms = new Map((await headerTermsOf(sql, segmentNums)).map((run) => [run.run_num, 0 - run.terms]));
  for (const segment of segmentNums) {
    const { rows } = await sql.query<{ first_term: string; data: Buffer }>(
      `select first_term, data
       from postings
       where segment_num = $1
       order by first_term`,
      [segment],
    );
    // Without the list of its chunks, a segment's postings belong to no run.
    if (rows[0]?.first_term !== LIST_ROW) continue;
    const { runs } = unpackChunks(rows[0].data);
    for (const { data } of rows.slice(1)) {
      readBlock(data, (_, postings) =>
        eachPosting(postings, (place, count) => {
          const run = runs[place]!;
          terms.set(run, (terms.get(run) ?? 0) + count);
        }),
      );
    }
  }
  return terms;
}

async function headerTermsOf(
  sql: Sql,
  segmentNums: readonly number[],
): Promise<{ run_num: number; terms: number }[]> {
  const { rows } = await sql.query<{ run_num: number; terms: number }>(
    `select run_num, sum(header_terms)::bigint as terms
     from posting_runs
     where segment_num = any($1::int[])
     group by run_num`,
    [segmentNums],
  );
  return rows;
}

export async function segmentsOf(sql: Sql, runNums: readonly number[]): Promise<number[]> {
  const { rows } = await sql.query<{ segment_num: number }>(
    `select distinct segment_num
     from posting_runs
     where run_num = any($1::int[])`,
    [runNums],
  );
  return rows.map((row) => row.segment_num);
}
