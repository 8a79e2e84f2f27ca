/** Indexes segments again from the texts of their chunks, after the analyzer has changed. */
import type { Sql } from "../../db/pool.ts";
import type { IndexedSpace } from "../../db/search/index/postings.ts";
import { correctTotals, lockDocumentsOf, readParts } from "../../db/search/index/reindex.ts";
import { dropSegments, lockSegment } from "../../db/search/index/segments.ts";
import { type IndexedChunk, insertPostings } from "./postings.ts";

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
  await lockDocumentsOf(sql, segmentNum);
  if ((await lockSegment(sql, segmentNum)) === undefined) return false;
  const parts = await readParts(sql, segmentNum);
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
