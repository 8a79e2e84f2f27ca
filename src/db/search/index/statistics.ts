/** Folds a space's statistics. A change adds a row, so that transactions do not wait for each other. */
import type { Sql } from "../../pool.ts";

/** Replaces the space's rows by one for each model, with the same sums. Rows added meanwhile stay. */
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
