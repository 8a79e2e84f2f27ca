/** All SQL that writes the embeddings that search reads, from the cache, and that deletes them. */
import type { OrganizationRef, Sql } from "../pool.ts";
import { positiveLiteral } from "./literals.ts";

/** The largest `integer` of Postgres. */
const MAX_INTEGER = 2_147_483_647;

interface EmbeddingsToWrite {
  readonly organization: OrganizationRef;
  readonly spaceNum: number;
  readonly modelNum: number;
  readonly runNums: readonly number[];
  /** Writes only these chunk indexes of each run, both ends included; by default all. */
  readonly chunks?: { readonly from: number; readonly to: number };
}

/** Writes the search entry of every chunk whose text has a cached vector of the model. Idempotent. */
export async function insertEmbeddingsFromCache(
  sql: Sql,
  { organization, spaceNum, modelNum, runNums, chunks }: EmbeddingsToWrite,
): Promise<void> {
  await sql.query({
    name: "search.insert-embeddings",
    text: `insert into embeddings (organization_num, space_num, run_num, chunk_index, model_num, embedding)
           select $1, $2, chunk.run_num, chunk.chunk_index, $3, cached.embedding
           from chunks chunk
           join embedding_cache cached
             on cached.organization_id = $4
            and cached.model_num = $3
            and cached.content_hash = chunk.content_hash
           where chunk.organization_id = $4
             and chunk.run_num = any($5::int[])
             and chunk.chunk_index between $6 and $7
           on conflict do nothing`,
    values: [
      organization.num,
      spaceNum,
      modelNum,
      organization.id,
      runNums,
      chunks?.from ?? 0,
      chunks?.to ?? MAX_INTEGER,
    ],
  });
}

/** Deletes at most `limit` embeddings of a hidden run. @returns whether any may be left. */
export async function deleteEmbeddings(
  sql: Sql,
  { spaceNum, runNum, limit }: { readonly spaceNum: number; readonly runNum: number; readonly limit: number },
): Promise<boolean> {
  const space = positiveLiteral(spaceNum);
  const { rowCount } = await sql.query(
    `delete from embeddings
     where space_num = ${space}
       and run_num = $1
       and chunk_index in (
         select chunk_index
         from embeddings
         where space_num = ${space}
           and run_num = $1
         order by chunk_index
         limit $2
       )`,
    [runNum, limit],
  );
  return (rowCount ?? 0) >= limit;
}

/** Deletes the run's vectors of other models: the model may have changed while it was indexed. */
export async function deleteOtherVectors(
  sql: Sql,
  {
    spaceNum,
    runNum,
    modelNum,
  }: { readonly spaceNum: number; readonly runNum: number; readonly modelNum: number },
): Promise<void> {
  const space = positiveLiteral(spaceNum);
  await sql.query(
    `delete from embeddings
     where space_num = ${space}
       and run_num = $1
       and model_num <> $2`,
    [runNum, modelNum],
  );
}
