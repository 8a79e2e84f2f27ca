/** All SQL on `superseded_keys`: the texts that keys had before they were rolled or given another by a provisioning file. */
import type { OrganizationKey, Sql } from "../pool.ts";

export interface NewKeyText {
  readonly hash: Buffer;
  readonly prefix: string;
  readonly expiresAt: Date | null;
  /** For how long the present text is still accepted; never longer than it would have been without the roll. */
  readonly overlapSeconds: number;
}

/** Each roll leaves a row for good, so that their number is bounded. */
export const MAX_ROLLS_A_DAY = 20;

/** Seconds until the key may be rolled again; 0 is now. The key's row must be locked. */
export async function secondsUntilRoll(sql: Sql, keyId: string): Promise<number> {
  const { rows } = await sql.query<{ seconds: number }>(
    `select ceil(extract(epoch from created_at + interval '1 day' - now()))::int as seconds
     from superseded_keys
     where api_key_id = $1 and created_at > now() - interval '1 day'
     order by created_at desc
     offset $2 limit 1`,
    [keyId, MAX_ROLLS_A_DAY - 1],
  );
  return rows[0]?.seconds ?? 0;
}

/** Gives the key a new text. What it had before its present one ends at once. The key's row must be locked. */
export async function replaceKeyText(
  sql: Sql,
  organization: OrganizationKey,
  keyId: string,
  { hash, prefix, expiresAt, overlapSeconds }: NewKeyText,
): Promise<void> {
  await sql.query(
    "update superseded_keys set valid_until = now() where api_key_id = $1 and valid_until > now()",
    [keyId],
  );
  await sql.query(
    `insert into superseded_keys (hash, api_key_id, organization_id, valid_until)
     select k.hash, k.id, $2, least(now() + make_interval(secs => $3), k.expires_at)
     from api_keys k
     where k.id = $1
     on conflict (hash) do update set valid_until = excluded.valid_until, created_at = excluded.created_at`,
    [keyId, organization.id, overlapSeconds],
  );
  await sql.query("update api_keys set hash = $2, prefix = $3, expires_at = $4 where id = $1", [
    keyId,
    hash,
    prefix,
    expiresAt,
  ]);
}

/**
 * Ends the key's present text and all before it at once, unless the present one is `hash` already; it is remembered, so that no file brings
 * it back. Idempotent. The key's row must be locked, and its `hash` written behind this.
 */
export async function supersedeKeyText(sql: Sql, keyId: string, hash: Buffer): Promise<void> {
  const { rowCount } = await sql.query(
    `insert into superseded_keys (hash, api_key_id, organization_id, valid_until)
     select hash, id, organization_id, now() from api_keys where id = $1 and hash <> $2
     on conflict (hash) do update set valid_until = least(superseded_keys.valid_until, excluded.valid_until)`,
    [keyId, hash],
  );
  if (rowCount !== 0)
    await sql.query(
      "update superseded_keys set valid_until = now() where api_key_id = $1 and valid_until > now()",
      [keyId],
    );
}
