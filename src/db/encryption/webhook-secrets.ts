/** Finds the secrets of webhooks that older keys of the organization seal, and replaces their seals. */
import type { Sql } from "../sql.ts";
import type { StoredSecret } from "../webhooks/records.ts";

const SECRETS_A_PAGE = 100;

export interface SealedWebhook {
  readonly id: string;
  /** Null if a newer key seals it already. */
  readonly current: StoredSecret | null;
  /** The secret before the last roll; null also if there is none. */
  readonly previous: StoredSecret | null;
}

/** Lists webhooks after `after` with a secret of another key than `keyId`; deletes what signs no more. */
export async function listWebhooksOfOldKeys(
  sql: Sql,
  organizationId: string,
  { keyId, after }: { readonly keyId: string; readonly after: string | null },
): Promise<SealedWebhook[]> {
  await sql.query(
    `update webhooks
     set previous_secret_key_id = null,
         sealed_previous_secret = null,
         previous_until = null
     where organization_id = $1
       and previous_until <= now()`,
    [organizationId],
  );
  const { rows } = await sql.query<{
    id: string;
    key_id: string;
    sealed: Buffer;
    previous_key_id: string | null;
    previous: Buffer | null;
  }>(
    `select id,
            secret_key_id as key_id,
            sealed_secret as sealed,
            previous_secret_key_id as previous_key_id,
            sealed_previous_secret as previous
     from webhooks
     where organization_id = $1
       and ($2::uuid is null or id > $2)
       and deleted_at is null
       and (secret_key_id <> $3 or previous_secret_key_id <> $3)
     order by id
     limit ${SECRETS_A_PAGE}`,
    [organizationId, after, keyId],
  );
  return rows.map((row) => ({
    id: row.id,
    current: row.key_id === keyId ? null : { keyId: row.key_id, sealed: row.sealed },
    previous:
      row.previous_key_id === null || row.previous === null || row.previous_key_id === keyId
        ? null
        : { keyId: row.previous_key_id, sealed: row.previous },
  }));
}

interface NewSeal {
  readonly from: Buffer;
  readonly to: StoredSecret;
}

/** Replaces the seal of a secret, and of the one before, unless it was rolled meanwhile. */
export async function replaceSeals(
  sql: Sql,
  id: string,
  seals: { readonly current: NewSeal | null; readonly previous: NewSeal | null },
): Promise<void> {
  for (const [seal, before] of [[seals.current, ""] as const, [seals.previous, "previous_"] as const]) {
    if (seal === null) continue;
    await sql.query(
      `update webhooks
       set ${before}secret_key_id = $3,
           sealed_${before}secret = $4
       where id = $1
         and sealed_${before}secret = $2`,
      [id, seal.from, seal.to.keyId, seal.to.sealed],
    );
  }
}

export async function countSecretsOfOldKeys(sql: Sql, organizationId: string): Promise<number> {
  const { rows } = await sql.query<{ count: number }>(
    `select count(*)::int as count
     from webhooks webhook
     where webhook.organization_id = $1
       and webhook.deleted_at is null
       and exists (
         select
         from organization_keys older
         where older.organization_id = $1
           and not older.is_current
           and older.id in (webhook.secret_key_id, webhook.previous_secret_key_id)
       )`,
    [organizationId],
  );
  return rows[0]!.count;
}
