/** The only SQL that writes a space's totals outside of publishing: differences that add up, so that no row is fought for. */
import type { Sql } from "../pool.ts";

interface StatisticsChange {
  readonly organizationNum: number;
  readonly spaceNum: number;
  readonly chunks: number;
  readonly terms: number;
}

/** Notes chunks and terms that came (positive) or went (negative). The transaction that changes what search sees calls it. */
export async function addStatistics(sql: Sql, { organizationNum, spaceNum, chunks, terms }: StatisticsChange): Promise<void> {
  if (chunks === 0 && terms === 0) return;
  await sql.query("insert into space_statistics (organization_num, space_num, chunks, terms) values ($1, $2, $3, $4)", [organizationNum, spaceNum, chunks, terms]);
}

/** Makes one row of the space's differences; what is added meanwhile stays beside it. The sums do not change. */
export async function foldStatistics(sql: Sql, organizationNum: number, spaceNum: number): Promise<void> {
  await sql.query(
    `with gone as (delete from space_statistics where space_num = $2 returning chunks, terms)
     insert into space_statistics (organization_num, space_num, chunks, terms)
     select $1, $2, sum(chunks), sum(terms) from gone having count(*) > 0`,
    [organizationNum, spaceNum],
  );
}
