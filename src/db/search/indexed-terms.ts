/** The only place that counts what postings hold, for proofs that nothing of a run is missing. Reads whole segments. */
import type { Sql } from "../pool.ts";
import { listFor, unpackPostings } from "./posting-blocks.ts";
import { readBlock } from "./term-blocks.ts";

/** Terms with their repetitions by run, over all postings of the segments. */
export async function countIndexedTerms(sql: Sql, segmentNums: readonly number[]): Promise<Map<number, number>> {
  const terms = new Map<number, number>();
  for (const segment of segmentNums) {
    const { rows } = await sql.query<{ data: Buffer }>("select data from postings where segment_num = $1", [segment]);
    for (const { data } of rows) {
      readBlock(data, (_, postings) => {
        const list = listFor([postings]);
        unpackPostings(postings, list, new Set());
        for (let at = 0; at < list.size; at++) terms.set(list.runs[at]!, (terms.get(list.runs[at]!) ?? 0) + list.counts[at]!);
      });
    }
  }
  return terms;
}

/** Segments that hold postings of any of the runs. */
export async function segmentsOf(sql: Sql, runNums: readonly number[]): Promise<number[]> {
  const { rows } = await sql.query<{ segment_num: number }>("select distinct segment_num from posting_runs where run_num = any($1::int[])", [runNums]);
  return rows.map((row) => row.segment_num);
}
