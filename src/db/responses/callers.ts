/** Finds what the caller of a response may still do, when another process goes on with it. */
import type { ReachedSpace } from "../../domain/tenancy/principal.ts";
import type { Sql } from "../pool.ts";

/** @returns undefined if the user or the key is gone. */
export async function findReachOf(
  sql: Sql,
  userId: string,
  apiKeyId: string | null,
): Promise<readonly ReachedSpace[] | undefined> {
  const { rows } = await sql.query<{ spaces: ReachedSpace[] }>(
    `select reach_of($1, $2) as spaces
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
  return rows[0]?.spaces;
}
