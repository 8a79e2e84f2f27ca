/** Counts what postings contain, to check that nothing of a run is missing. Reads whole segments. */
import type { Sql } from "../../db/pool.ts";
import { countHeaderTerms } from "../../db/search/index/indexed-terms.ts";
import { LIST_ROW, readSegments } from "../../db/search/index/postings.ts";
import { eachPosting, unpackChunks } from "./posting-blocks.ts";
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
  const terms = new Map(
    (await countHeaderTerms(sql, segmentNums)).map((run) => [run.run_num, 0 - run.terms]),
  );
  for (const segment of segmentNums) {
    const blocks = await readSegments(sql, [segment]);
    const list = blocks.find((block) => block.first_term === LIST_ROW);
    // Without the list of its chunks, a segment's postings belong to no run.
    if (list === undefined) continue;
    const { runs } = unpackChunks(list.data);
    for (const { data } of blocks.filter((block) => block !== list)) {
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
