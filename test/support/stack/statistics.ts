/** Changes what search takes for the totals of a space. */
import type { Sql } from "../../../src/db/pool.ts";

interface StatisticsChange {
  readonly organizationNum: number;
  readonly spaceNum: number;
  readonly chunks: number;
  readonly terms: number;
  /** The model of the chunks' vectors. */
  readonly embeddingModel?: string;
}

/** Adds chunks and terms to the totals, as publishing does, or subtracts them (negative). */
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
