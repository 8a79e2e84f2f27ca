/** All SQL by which maintenance finds uploads that never ended. */
import type { Sql } from "../pool.ts";

/**
 * Locks at most `limit` intents of uploads that never ended: last renewed a day ago or earlier. The lock
 * keeps them from being accepted meanwhile. `is_stored` tells that a row refers to the object.
 */
export async function lockExpiredIntents(
  sql: Sql,
  limit: number,
): Promise<Array<{ object_key: string; is_stored: boolean }>> {
  const { rows } = await sql.query<{ object_key: string; is_stored: boolean }>(
    `select intent.object_key,
            exists (
              select
              from raw_files file
              where file.object_key = intent.object_key
            )
            or exists (
              select
              from openai_files held
              where held.object_key = intent.object_key
            )
            or exists (
              select
              from pipeline_runs run
              where run.object_key = intent.object_key
            ) as is_stored
     from upload_intents intent
     where intent.leased_until < now() - interval '23 hours'
     order by intent.object_key
     limit $1
     for update of intent skip locked`,
    [limit],
  );
  return rows;
}

export async function deleteIntents(sql: Sql, objectKeys: readonly string[]): Promise<void> {
  await sql.query(
    `delete from upload_intents
     where object_key = any($1::text[])`,
    [objectKeys],
  );
}
