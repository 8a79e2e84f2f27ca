/**
 * Writes changes of a space's totals, as rows that add up, so that transactions do not wait for each other's
 * row.
 */
import type { Sql } from "../../pool.ts";

interface StatisticsChange {
  readonly organizationNum: number;
  readonly spaceNum: number;
  readonly chunks: number;
  readonly terms: number;
  /** The model of the chunks' vectors. */
  readonly embeddingModel?: string;
}

/**
 * Adds chunks and terms to the totals, or subtracts them (negative). Call it in the transaction that changes
 * what search sees.
 */
export async function addStatistics(
  sql: Sql,
  { organizationNum, spaceNum, chunks, terms, embeddingModel }: StatisticsChange,
): Promise<void> {
  if (chunks === 0 && terms === 0) return;
  await sql.query(
    `insert into space_statistics (organization_num, space_num, chunks, terms, embedding_model)
     values ($1, $2, $3, $4, $5)`,
    [organizationNum, spaceNum, chunks, terms, embeddingModel],
  );
}

/**
 * Replaces the rows of the space by one for each model, with the same sums. Rows that are added meanwhile
 * stay.
 */
export async function foldStatistics(sql: Sql, organizationNum: number, spaceNum: number): Promise<void> {
  await sql.query(
    `with folded as (
       delete from space_statistics
       where space_num = $2
       returning chunks, terms, embedding_model
     )
     insert into space_statistics (organization_num, space_num, chunks, terms, embedding_model)
     select $1, $2, sum(chunks), sum(terms), embedding_model
     from folded
     group by embedding_model
     having sum(chunks) <> 0
         or sum(terms) <> 0`,
    [organizationNum, spaceNum],
  );
}
