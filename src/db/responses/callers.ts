/** Finds what the caller of a response may still do, when another process goes on with it. */
import type { ReachedSpace } from "../../domain/tenancy/principal.ts";
import type { Sql } from "../pool.ts";

interface CallerNow {
  readonly spaces: readonly ReachedSpace[];
  readonly is_made_by_other: boolean;
}

/** @returns undefined if the user or the key is gone. */
export async function findCallerNow(
  sql: Sql,
  userId: string,
  apiKeyId: string | null,
): Promise<CallerNow | undefined> {
  const { rows } = await sql.query<CallerNow>(
    `select reach_of($1, $2) as spaces,
            exists (
              select
              from api_keys key
              where key.id = $2
                and key.created_by <> key.user_id
            ) as is_made_by_other
     where exists (
       select
       from users member
       where member.id = $1
         and member.removed_at is null
     )
     and ($2::uuid is null or exists (
       select
       from api_keys key
       where key.id = $2
         and key.revoked_at is null
         and (key.expires_at is null or key.expires_at > now())
     ))`,
    [userId, apiKeyId],
  );
  return rows[0];
}
