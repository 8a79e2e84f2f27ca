/** Gives keys new texts and remembers the hashes of old ones, which may be accepted for a while. */
import type { OrganizationRef, Sql } from "../pool.ts";

export interface NewKeyText {
  readonly hash: Buffer;
  readonly prefix: string;
  readonly expiresAt: Date | null;
  /** For how long the present text is still accepted; it never outlives its own expiry. */
  readonly overlapSeconds: number;
}

/** Each roll leaves a row for good, so the number of rolls is bounded. */
export const MAX_ROLLS_A_DAY = 20;

/** @returns seconds until the key may be rolled again, 0 for now. The caller must have locked its row. */
export async function secondsUntilRoll(sql: Sql, keyId: string): Promise<number> {
  const { rows } = await sql.query<{ seconds: number }>(
    `select ceil(extract(epoch from created_at + interval '1 day' - now()))::int as seconds
     from superseded_keys
     where api_key_id = $1
       and created_at > now() - interval '1 day'
     order by created_at desc
     offset $2
     limit 1`,
    [keyId, MAX_ROLLS_A_DAY - 1],
  );
  return rows[0]?.seconds ?? 0;
}

/** Gives the key a new text; the present one ends after the overlap, earlier ones now. Lock its row first. */
export async function replaceKeyText(
  sql: Sql,
  organization: OrganizationRef,
  keyId: string,
  { hash, prefix, expiresAt, overlapSeconds }: NewKeyText,
): Promise<void> {
  await endOlderTexts(sql, keyId);
  await sql.query(
    `insert into superseded_keys (hash, api_key_id, organization_id, valid_until)
     select key.hash, key.id, $2, least(now() + make_interval(secs => $3), key.expires_at)
     from api_keys key
     where key.id = $1
     on conflict (hash) do update
     set valid_until = excluded.valid_until,
         created_at = excluded.created_at`,
    [keyId, organization.id, overlapSeconds],
  );
  await sql.query(
    `update api_keys
     set hash = $2,
         prefix = $3,
         expires_at = $4
     where id = $1`,
    [keyId, hash, prefix, expiresAt],
  );
}

/**
 * Ends the key's present text and all earlier ones at once, unless the present one is `hash` already. Ended
 * texts are remembered, so that no provisioning file brings them back. Idempotent. The caller must have
 * locked the key's row, and writes `hash` to it after this.
 * @returns whether the key had another text.
 */
export async function supersedeKeyText(sql: Sql, keyId: string, hash: Buffer): Promise<boolean> {
  const { rowCount } = await sql.query(
    `insert into superseded_keys (hash, api_key_id, organization_id, valid_until)
     select hash, id, organization_id, now()
     from api_keys
     where id = $1
       and hash <> $2
     on conflict (hash) do update
     set valid_until = least(superseded_keys.valid_until, excluded.valid_until)`,
    [keyId, hash],
  );
  if (rowCount === 0) return false;
  await endOlderTexts(sql, keyId);
  return true;
}

async function endOlderTexts(sql: Sql, keyId: string): Promise<void> {
  await sql.query(
    `update superseded_keys
     set valid_until = now()
     where api_key_id = $1
       and valid_until > now()`,
    [keyId],
  );
}
