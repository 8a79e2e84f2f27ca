/** Finds documents that versions before 0.9.0 processed, whose chunks do not know where they stand. */
import type { Sql } from "../pool.ts";

export interface LocatedDocument {
  readonly id: string;
  /** Whether a chunk of its published version has no offsets. */
  readonly lacks_locations: boolean;
}

/** Returns at most `limit` documents with a published version, in the order of their ids, after `after`. */
export async function listLocatedDocuments(
  sql: Sql,
  after: string | null,
  limit: number,
): Promise<LocatedDocument[]> {
  const { rows } = await sql.query<LocatedDocument>(
    `select document.id,
            exists (
              select
              from chunks chunk
              where chunk.run_num = document.published_run_num
                and chunk.start_offset is null
            ) as lacks_locations
     from documents document
     where document.deleted_at is null
       and document.published_run_num is not null
       and ($1::uuid is null or document.id > $1)
     order by document.id
     limit $2`,
    [after, limit],
  );
  return rows;
}
