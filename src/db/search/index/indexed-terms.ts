/** The only place that counts what postings hold, for proofs that nothing of a run is missing. Reads whole segments. */
import type { Sql } from "../../pool.ts";
import { eachPosting, unpackChunks } from "./posting-blocks.ts";
import { LIST_ROW } from "./postings.ts";
import { readBlock } from "./term-blocks.ts";

/** Terms with their repetitions by run, over all postings of the segments. */
export async function countIndexedTerms(
  sql: Sql,
  segmentNums: readonly number[],
): Promise<Map<number, number>> {
  const terms = new Map<number, number>();
  for (const segment of segmentNums) {
    const { rows } = await sql.query<{ first_term: string; data: Buffer }>(
      "select first_term, data from postings where segment_num = $1 order by first_term",
      [segment],
    );
    // Postings whose list is gone are of no run.
    if (rows[0]?.first_term !== LIST_ROW) continue;
    const { runs } = unpackChunks(rows[0].data);
    for (const { data } of rows.slice(1)) {
      readBlock(data, (_, postings) =>
        eachPosting(
          postings,
          (place, count) => void terms.set(runs[place]!, (terms.get(runs[place]!) ?? 0) + count),
        ),
      );
    }
  }
  return terms;
}

/** Segments that hold postings of any of the runs. */
export async function segmentsOf(sql: Sql, runNums: readonly number[]): Promise<number[]> {
  const { rows } = await sql.query<{ segment_num: number }>(
    "select distinct segment_num from posting_runs where run_num = any($1::int[])",
    [runNums],
  );
  return rows.map((row) => row.segment_num);
}
