/** All SQL on chunks that the provider of a model refuses: marked as they come, published without a vector, and told to callers as warnings. */
import { MAX_PUBLISH_CHUNKS, NOT_EMBEDDED } from "../../domain/work/processing.ts";
import type { Sql } from "../pool.ts";
import type { EntriesOfRuns } from "./publish.ts";

/** Warnings of a run name so many chunks at most; how many there are, its counts of chunks say. */
const MAX_NAMED = 100;

/** SQL for the warnings of the run `r` that are not about vectors: for a run whose vectors are made anew. */
export const WARNINGS_OF_TEXT = `coalesce((select jsonb_agg(w) from jsonb_array_elements(r.warnings) w where w ->> 'code' is distinct from '${NOT_EMBEDDED}'), '[]')`;

/**
 * Marks chunks as refused by the model: the checkpoint of what has no embedding, as `keepEmbeddings` is of what has one. A mark of an
 * attempt that lost its runs meanwhile is as true as any, and a chunk that has a vector after all is not counted as refused.
 */
export async function markRefused(
  sql: Sql,
  modelNum: number,
  chunks: ReadonlyArray<{ readonly runNum: number; readonly chunkIndex: number }>,
): Promise<void> {
  await sql.query(
    `update chunks c set refused_by = $1
     from unnest($2::int[], $3::int[]) u(run_num, chunk_index)
     where c.run_num = u.run_num and c.chunk_index = u.chunk_index`,
    [modelNum, chunks.map((chunk) => chunk.runNum), chunks.map((chunk) => chunk.chunkIndex)],
  );
}

/** Whether the model refuses every chunk of the run. */
export async function isRefusedWhole(sql: Sql, runNum: number, modelNum: number): Promise<boolean> {
  const { rowCount } = await sql.query(
    "select from chunks where run_num = $1 and refused_by is distinct from $2 limit 1",
    [runNum, modelNum],
  );
  return rowCount === 0;
}

export interface RefusedOfRun {
  readonly run_num: number;
  readonly count: number;
  /** Indexes of the first of them. */
  readonly named: number[];
}

/** The chunks of the runs that the model refuses and that have no vector of it. A run without any is left out. */
export async function readRefused(
  sql: Sql,
  { spaceNum, runNums, modelNum }: EntriesOfRuns,
): Promise<Map<number, RefusedOfRun>> {
  const { rows } = await sql.query<RefusedOfRun>(
    `select c.run_num, count(*)::int as count, (array_agg(c.chunk_index order by c.chunk_index))[1:${MAX_NAMED}] as named
     from chunks c
     where c.run_num = any($2::int[]) and c.refused_by = $3
       and not exists (select from embeddings e where e.space_num = $1 and e.run_num = c.run_num and e.chunk_index = c.chunk_index and e.model_num = $3)
     group by c.run_num`,
    [spaceNum, runNums, modelNum],
  );
  return new Map(rows.map((row) => [row.run_num, row]));
}

/** Writes down what of locked runs is published without a vector: fewer embedded chunks, and a warning for each of the first. */
export async function noteRefused(sql: Sql, refused: Iterable<RefusedOfRun>): Promise<void> {
  const runs = [...refused];
  const warnings = runs.map(({ named }) =>
    named.map((index) => ({ code: NOT_EMBEDDED, chunk_index: index })),
  );
  await sql.query(
    `update pipeline_runs r set embedded_chunk_count = r.chunk_count - u.count, warnings = ${WARNINGS_OF_TEXT} || u.warnings
     from unnest($1::int[], $2::int[], $3::jsonb[]) u(num, count, warnings) where r.num = u.num`,
    [
      runs.map((run) => run.run_num),
      runs.map((run) => run.count),
      warnings.map((list) => JSON.stringify(list)),
    ],
  );
}

/**
 * Where the search entries of a large run go on: the first chunk of the first batch that is not written whole, with postings and a vector for
 * each chunk that is not refused.
 */
export async function firstUnwritten(
  sql: Sql,
  {
    spaceNum,
    runNum,
    modelNum,
  }: { readonly spaceNum: number; readonly runNum: number; readonly modelNum: number },
): Promise<number> {
  const { rows } = await sql.query<{ indexed: number; without: number | null }>(
    `select (select coalesce(sum(p.chunk_count), 0)::int from posting_runs p where p.run_num = $2) as indexed,
       (select min(c.chunk_index) from chunks c
        where c.run_num = $2 and c.refused_by is distinct from $3
          and not exists (select from embeddings e where e.space_num = $1 and e.run_num = c.run_num and e.chunk_index = c.chunk_index and e.model_num = $3)) as without`,
    [spaceNum, runNum, modelNum],
  );
  const { indexed, without } = rows[0]!;
  return without === null ? indexed : Math.min(indexed, without - (without % MAX_PUBLISH_CHUNKS));
}
