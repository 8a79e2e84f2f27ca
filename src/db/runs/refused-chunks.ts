/** All SQL on chunks whose text a model refuses: published without a vector, with a warning. */
import { MAX_PUBLISH_CHUNKS, NOT_EMBEDDED } from "../../domain/work/processing.ts";
import type { Sql } from "../pool.ts";
import type { EntriesOfRuns } from "./publish.ts";

/** Bounds the refused chunks that a run's warnings name; `embedded_chunk_count` tells how many. */
const MAX_NAMED = 100;

/** `warnings` of pipeline_runs without those about vectors, for runs that are embedded again. */
export const WARNINGS_OF_TEXT = `coalesce((
      select jsonb_agg(warning)
      from jsonb_array_elements(warnings) warning
      where warning ->> 'code' is distinct from '${NOT_EMBEDDED}'
    ), '[]')`;

/**
 * Marks chunks as refused by the model, so that the next attempt does not send them again. Needs no fence: a
 * mark is also true if the attempt has lost its runs, and a chunk that has a vector after all is not counted
 * as refused.
 */
export async function markRefused(
  sql: Sql,
  modelNum: number,
  chunks: ReadonlyArray<{ readonly runNum: number; readonly chunkIndex: number }>,
): Promise<void> {
  await sql.query(
    `update chunks chunk
     set refused_by = $1
     from unnest($2::int[], $3::int[]) refused(run_num, chunk_index)
     where chunk.run_num = refused.run_num
       and chunk.chunk_index = refused.chunk_index`,
    [modelNum, chunks.map((chunk) => chunk.runNum), chunks.map((chunk) => chunk.chunkIndex)],
  );
}

export async function isRefusedWhole(sql: Sql, runNum: number, modelNum: number): Promise<boolean> {
  const { rowCount } = await sql.query(
    `select
     from chunks
     where run_num = $1
       and refused_by is distinct from $2
     limit 1`,
    [runNum, modelNum],
  );
  return rowCount === 0;
}

export interface RefusedOfRun {
  readonly run_num: number;
  readonly count: number;
  /** Indexes of the first {@link MAX_NAMED} of them. */
  readonly named: number[];
}

/**
 * Returns, by run number, the chunks that the model refuses and that have no vector of it. A run without such
 * chunks is left out.
 *
 * `test/db/runs/refused-chunks.database.test.ts` shows which count.
 */
export async function readRefused(
  sql: Sql,
  { spaceNum, runNums, modelNum }: EntriesOfRuns,
): Promise<Map<number, RefusedOfRun>> {
  const { rows } = await sql.query<RefusedOfRun>(
    `select chunk.run_num,
            count(*)::int as count,
            (array_agg(chunk.chunk_index order by chunk.chunk_index))[1:${MAX_NAMED}] as named
     from chunks chunk
     where chunk.run_num = any($2::int[])
       and chunk.refused_by = $3
       and not exists (
         select
         from embeddings embedding
         where embedding.space_num = $1
           and embedding.run_num = chunk.run_num
           and embedding.chunk_index = chunk.chunk_index
           and embedding.model_num = $3
       )
     group by chunk.run_num`,
    [spaceNum, runNums, modelNum],
  );
  return new Map(rows.map((row) => [row.run_num, row]));
}

/** Notes which chunks of locked runs are published without a vector: corrects the count, adds warnings. */
export async function noteRefused(sql: Sql, refused: Iterable<RefusedOfRun>): Promise<void> {
  const runs = [...refused];
  const warnings = runs.map(({ named }) =>
    named.map((index) => ({ code: NOT_EMBEDDED, chunk_index: index })),
  );
  await sql.query(
    `update pipeline_runs run
     set embedded_chunk_count = run.chunk_count - refused.count,
         warnings = ${WARNINGS_OF_TEXT} || refused.added
     from unnest($1::int[], $2::int[], $3::jsonb[]) refused(num, count, added)
     where run.num = refused.num`,
    [
      runs.map((run) => run.run_num),
      runs.map((run) => run.count),
      warnings.map((list) => JSON.stringify(list)),
    ],
  );
}

/** Returns where writing a large run goes on: at the first batch that lacks postings or vectors. */
export async function firstUnwritten(
  sql: Sql,
  {
    spaceNum,
    runNum,
    modelNum,
  }: { readonly spaceNum: number; readonly runNum: number; readonly modelNum: number },
): Promise<number> {
  const { rows } = await sql.query<{ indexed: number; without: number | null }>(
    `select (
              select coalesce(sum(part.chunk_count), 0)::int
              from posting_runs part
              where part.run_num = $2
            ) as indexed,
            (
              select min(chunk.chunk_index)
              from chunks chunk
              where chunk.run_num = $2
                and chunk.refused_by is distinct from $3
                and not exists (
                  select
                  from embeddings embedding
                  where embedding.space_num = $1
                    and embedding.run_num = chunk.run_num
                    and embedding.chunk_index = chunk.chunk_index
                    and embedding.model_num = $3
                )
            ) as without`,
    [spaceNum, runNum, modelNum],
  );
  const { indexed, without } = rows[0]!;
  return without === null ? indexed : Math.min(indexed, without - (without % MAX_PUBLISH_CHUNKS));
}
