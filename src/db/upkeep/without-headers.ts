/** Counts chunks that versions before 0.10.0 wrote, which are embedded and indexed without a header. */
import type { Sql } from "../pool.ts";

export interface HeaderCounts {
  readonly id: string;
  /** Chunks of its published version. */
  readonly chunks: number;
  readonly chunks_without_headers: number;
}

/**
 * Returns at most `limit` documents with a published version, in the order of their ids, after `after`.
 * @param spaceId null for all spaces.
 */
export async function countHeaders(
  sql: Sql,
  spaceId: string | null,
  { after, limit }: { readonly after: string | null; readonly limit: number },
): Promise<HeaderCounts[]> {
  const { rows } = await sql.query<HeaderCounts>(
    `select document.id,
            count(chunk.run_num)::int as chunks,
            count(*) filter (where chunk.run_num is not null and chunk.header is null)::int
              as chunks_without_headers
     from (
       select id, published_run_num
       from documents
       where deleted_at is null
         and published_run_num is not null
         and ($1::uuid is null or space_id = $1)
         and ($2::uuid is null or id > $2)
       order by id
       limit $3
     ) document
     left join chunks chunk on chunk.run_num = document.published_run_num
     group by document.id
     order by document.id`,
    [spaceId, after, limit],
  );
  return rows;
}
