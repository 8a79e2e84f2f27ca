/**
 * Finds spaces whose models were not measured on them since they changed, reads the sample for it, and keeps
 * what was measured.
 * @see src/domain/language-fit.ts for the measure
 */
import pgvector from "pgvector";
import type pg from "pg";
import {
  LEAST_PAIRS,
  MOST_PAIRS,
  type Measured,
  type Neighbours,
  type PairPlace,
  type SampledChunk,
  type SampledRun,
} from "../../../domain/language-fit.ts";
import { type OrganizationRef, type Sql, queryOnce } from "../../pool.ts";
import { positiveLiteral } from "../literals.ts";

/** Fewer chunks do not have {@link LEAST_PAIRS} pairs in the two documents that are needed at least. */
const LEAST_CHUNKS = LEAST_PAIRS + 2;
/** A space is measured again when its size changed by this share: it may have another language. */
const CHANGED_SHARE = 0.25;
/** And by so many chunks, so that a small space that grows is not measured at each document. */
const CHANGED_CHUNKS = 16;

/** Rows `due`: spaces and models whose measure is missing, or of when the space was of another size. */
const due = (ofSpace: string): string => `(
       select coalesce(counted.organization_num, fit.organization_num) as organization_num,
              coalesce(counted.space_num, fit.space_num) as space_num,
              coalesce(counted.model_num, fit.model_num) as model_num,
              coalesce(counted.chunks, 0)::int as chunks,
              fit.space_num is not null as has_fit
       from (
         select statistics.organization_num,
                statistics.space_num,
                model.num as model_num,
                sum(statistics.chunks) as chunks
         from space_statistics statistics
         join embedding_models model on model.name = statistics.embedding_model
         where ${ofSpace}
         group by statistics.organization_num, statistics.space_num, model.num
       ) counted
       full join (
         select *
         from language_fits
         where ${ofSpace}
       ) fit
         on fit.space_num = counted.space_num
        and fit.model_num = counted.model_num
       where case
               when fit.space_num is null then counted.chunks >= ${LEAST_CHUNKS}
               else abs(coalesce(counted.chunks, 0) - fit.chunks_measured)
                      >= greatest(${CHANGED_CHUNKS}, ${CHANGED_SHARE} * fit.chunks_measured)
             end
     ) due`;

/** Returns at most `limit` spaces, in random order, with a model that is to be measured. */
export async function listSpacesToMeasure(
  system: pg.Pool,
  limit: number,
): Promise<Array<{ organization: OrganizationRef; spaceNum: number }>> {
  const { rows } = await queryOnce<{ space_num: number; id: string; num: number }>(
    system,
    `select due.space_num, organization.id, organization.num
     from ${due("true")}
     join organizations organization
       on organization.num = due.organization_num
      and organization.deleted_at is null
     group by due.space_num, organization.id, organization.num
     order by random()
     limit $1`,
    [limit],
  );
  return rows.map(({ space_num, id, num }) => ({ organization: { id, num }, spaceNum: space_num }));
}

interface ModelToMeasure {
  readonly spaceNum: number;
  readonly spaceId: string;
  readonly modelNum: number;
  /** Published chunks with its vectors, which the measure will be of. */
  readonly chunks: number;
}

/** Returns the models to measure on the space; deletes what was measured of those with too few chunks. */
export async function findModelsToMeasure(sql: Sql, spaceNum: number): Promise<ModelToMeasure[]> {
  const { rows } = await sql.query<{ id: string; model_num: number; chunks: number; is_live: boolean }>(
    `with found as (
       select space.id,
              due.model_num,
              due.chunks,
              space.deleted_at is null and due.chunks >= ${LEAST_CHUNKS} as is_live
       from ${due("space_num = $1")}
       join spaces space on space.num = due.space_num
     ),
     forgotten as (
       delete from language_fits
       where space_num = $1
         and model_num in (select model_num from found where not is_live)
     )
     select *
     from found
     where is_live
     order by model_num`,
    [spaceNum],
  );
  return rows.map(({ id, model_num, chunks }) => ({ spaceNum, spaceId: id, modelNum: model_num, chunks }));
}

/**
 * Returns the published runs of documents that a search sees, at most {@link MOST_PAIRS}, with two chunks or
 * more. Which ones, and their order, does not depend on when they were written, and is the same each time.
 */
export async function sampleRuns(
  sql: Sql,
  { spaceId, spaceNum, modelNum }: ModelToMeasure,
): Promise<SampledRun[]> {
  const { rows } = await sql.query<{ num: number; chunk_count: number }>(
    `select run.num, run.chunk_count
     from documents document
     join pipeline_runs run
       on run.num = document.published_run_num
      and run.chunk_count >= 2
     join embedding_models model
       on model.name = run.embedding_model
      and model.num = $3
     left join folders folder on folder.id = document.folder_id
     where document.space_id = $1
       and document.deleted_at is null
       and folder.deleted_at is null
       and not exists (
         select
         from hidden_runs hidden
         where hidden.space_num = $2
           and hidden.run_num = run.num
       )
     order by hashint4(run.num), run.num
     limit ${MOST_PAIRS}`,
    [spaceId, spaceNum, modelNum],
  );
  return rows.map(({ num, chunk_count }) => ({ runNum: num, chunks: chunk_count }));
}

/** Returns the pairs of which both chunks have a vector of the model, in the given order. */
export async function readNeighbours(
  sql: Sql,
  { spaceNum, modelNum }: ModelToMeasure,
  pairs: readonly PairPlace[],
): Promise<Neighbours[]> {
  const chunkName = (runNum: number, index: number): string => `${runNum}/${index}`;
  const places = pairs.flatMap(({ runNum, index }) => [
    { runNum, index },
    { runNum, index: index + 1 },
  ]);
  const wanted = [...new Map(places.map((place) => [chunkName(place.runNum, place.index), place])).values()];
  const { rows } = await sql.query<{
    run_num: number;
    chunk_index: number;
    content: string;
    embedding: string;
  }>(
    `select embedding.run_num,
            embedding.chunk_index,
            encode(chunk.content_hash, 'hex') as content,
            embedding.embedding::text as embedding
     from unnest($1::int[], $2::int[]) wanted(run_num, chunk_index)
     join embeddings embedding
       on embedding.space_num = ${positiveLiteral(spaceNum)}
      and embedding.run_num = wanted.run_num
      and embedding.chunk_index = wanted.chunk_index
      and embedding.model_num = $3
     join chunks chunk
       on chunk.run_num = wanted.run_num
      and chunk.chunk_index = wanted.chunk_index`,
    [wanted.map(({ runNum }) => runNum), wanted.map(({ index }) => index), modelNum],
  );
  const read = new Map(
    rows.map((row): [string, SampledChunk] => [
      chunkName(row.run_num, row.chunk_index),
      {
        runNum: row.run_num,
        content: row.content,
        vector: Float32Array.from(pgvector.fromSql(row.embedding) as number[]),
      },
    ]),
  );
  return pairs.flatMap(({ runNum, index }): Neighbours[] => {
    const [one, next] = [read.get(chunkName(runNum, index)), read.get(chunkName(runNum, index + 1))];
    return one === undefined || next === undefined ? [] : [[one, next]];
  });
}

/**
 * Replaces what was measured before. A space that is deleted meanwhile gets nothing: its row is locked until
 * the transaction ends, and what deletes the space comes either before or after.
 * @returns whether it was kept.
 */
export async function keepMeasured(
  sql: Sql,
  organizationNum: number,
  { spaceNum, modelNum, chunks }: ModelToMeasure,
  { auc, pairs }: Measured,
): Promise<boolean> {
  const { rowCount } = await sql.query(
    `insert into language_fits (organization_num, space_num, model_num, auc, pairs, chunks_measured)
     select $1, space.num, $3, $4, $5, $6
     from spaces space
     where space.num = $2
       and space.deleted_at is null
     for share
     on conflict (space_num, model_num) do update
     set auc = excluded.auc,
         pairs = excluded.pairs,
         chunks_measured = excluded.chunks_measured,
         measured_at = now()`,
    [organizationNum, spaceNum, modelNum, auc, pairs, chunks],
  );
  return rowCount === 1;
}

/** Returns what was measured of the model on the space; null without a measure, or with too few pairs. */
export async function findAuc(sql: Sql, spaceId: string, model: string): Promise<number | null> {
  const { rows } = await sql.query<{ auc: number | null }>(
    `select fit.auc
     from spaces space
     join language_fits fit on fit.space_num = space.num
     join embedding_models model
       on model.num = fit.model_num
      and model.name = $2
     where space.id = $1`,
    [spaceId, model],
  );
  return rows[0]?.auc ?? null;
}
