/** The only SQL that writes a space's totals outside of publishing: differences that add up, so that no row is fought for. */
import type { Sql } from "../../pool.ts";

interface StatisticsChange {
  readonly organizationNum: number;
  readonly spaceNum: number;
  readonly chunks: number;
  readonly terms: number;
  /** Of the chunks' vectors. */
  readonly embeddingModel?: string;
}

/** Notes chunks and terms that came (positive) or went (negative). The transaction that changes what search sees calls it. */
export async function addStatistics(
  sql: Sql,
  { organizationNum, spaceNum, chunks, terms, embeddingModel }: StatisticsChange,
): Promise<void> {
  if (chunks === 0 && terms === 0) return;
  await sql.query(
    "insert into space_statistics (organization_num, space_num, chunks, terms, embedding_model) values ($1, $2, $3, $4, $5)",
    [organizationNum, spaceNum, chunks, terms, embeddingModel],
  );
}

/** Makes one row a model of the space's differences; what is added meanwhile stays beside it. The sums do not change. */
export async function foldStatistics(sql: Sql, organizationNum: number, spaceNum: number): Promise<void> {
  await sql.query(
    `with gone as (delete from space_statistics where space_num = $2 returning chunks, terms, embedding_model)
     insert into space_statistics (organization_num, space_num, chunks, terms, embedding_model)
     select $1, $2, sum(chunks), sum(terms), embedding_model from gone group by embedding_model having sum(chunks) <> 0 or sum(terms) <> 0`,
    [organizationNum, spaceNum],
  );
}
