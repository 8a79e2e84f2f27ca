/** SQL of what headers of chunks added to postings, and of the segments that runs are in. */
import type { Sql } from "../../pool.ts";

/** Returns for each run how much the headers of its chunks added to the counts in the segments' postings. */
export async function countHeaderTerms(
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
