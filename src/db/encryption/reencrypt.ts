/** All SQL of encrypting an organization's objects anew: which there are, the exchange of one for its copy, and what still needs an older key. */
import type { Sql } from "../pool.ts";

/** Rows of what is being deleted keep the name that the deletion knows. */
const LIVES = `exists (select from spaces s join organizations g on g.id = s.organization_id and g.deleted_at is null where s.id = t.space_id and s.deleted_at is null)
  and not exists (select from documents d left join folders o on o.id = d.folder_id where d.id = t.document_id and (d.deleted_at is not null or o.deleted_at is not null))`;
/** A day with what the sweep of intents adds: what has read a row goes on reading the object that it names. */
const KEPT_FOR = "1 hour";

/** Names of objects that living rows of the organization have, behind `after`, in byte order; none where it is being deleted. */
export async function listNamedObjects(
  sql: Sql,
  organizationId: string,
  { after, limit }: { readonly after: string | null; readonly limit: number },
): Promise<string[]> {
  const { rows } = await sql.query<{ object_key: string }>(
    `(select t.object_key from raw_files t where t.organization_id = $1 and t.object_key > $2 and t.deleted_at is null and ${LIVES} order by 1 limit $3)
     union (select t.object_key from pipeline_runs t where t.organization_id = $1 and t.object_key > $2 and not t.object_purged and ${LIVES} order by 1 limit $3)
     order by 1 limit $3`,
    [organizationId, after ?? "", limit],
  );
  return rows.map((row) => row.object_key);
}

/** As {@link listNamedObjects} would list. */
export async function countNamedObjects(sql: Sql, organizationId: string): Promise<number> {
  const { rows } = await sql.query<{ count: number }>(
    `select count(*)::int as count from (
       select t.object_key from raw_files t where t.organization_id = $1 and t.object_key is not null and t.deleted_at is null and ${LIVES}
       union select t.object_key from pipeline_runs t where t.organization_id = $1 and not t.object_purged and ${LIVES}) named`,
    [organizationId],
  );
  return rows[0]!.count;
}

/**
 * Gives every living row that names `from` the name `to`, settles the intent of `to`, and leaves `from` to the sweep of intents a day
 * later. @returns false, with nothing changed, where no such row names `from` any more.
 */
export async function exchangeObject(
  sql: Sql,
  organizationId: string,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<boolean> {
  const { rowCount: files } = await sql.query(
    `update raw_files t set object_key = $3 where t.organization_id = $1 and t.object_key = $2 and t.deleted_at is null and ${LIVES}`,
    [organizationId, from, to],
  );
  const { rowCount: runs } = await sql.query(
    `update pipeline_runs t set object_key = $3 where t.organization_id = $1 and t.object_key = $2 and not t.object_purged and ${LIVES}`,
    [organizationId, from, to],
  );
  if ((files ?? 0) + (runs ?? 0) === 0) return false;
  await sql.query("delete from upload_intents where organization_id = $1 and object_key = $2", [
    organizationId,
    to,
  ]);
  await sql.query(
    `insert into upload_intents (object_key, organization_id, leased_until) values ($2, $1, now() + interval '${KEPT_FOR}')
     on conflict (object_key) do nothing`,
    [organizationId, from],
  );
  return true;
}

interface KeyUsers {
  /** Uploads under way that may have begun under an older key. */
  readonly uploads: number;
  /** Kept answers of chat turns; they go within a day. */
  readonly kept_answers: number;
}

/** What still needs another key of the organization than `keyId`, which became the current one at `since`. */
export async function countKeyUsers(
  sql: Sql,
  organizationId: string,
  { keyId, until }: { readonly keyId: string; readonly until: Date },
): Promise<KeyUsers> {
  const { rows } = await sql.query<KeyUsers>(
    `select (select count(*)::int from upload_intents where organization_id = $1 and created_at < $3) as uploads,
       (select count(*)::int from kept_turns where organization_id = $1 and key_id <> $2)
         + (select count(*)::int from kept_turn_pieces where organization_id = $1 and key_id <> $2) as kept_answers`,
    [organizationId, keyId, until],
  );
  return rows[0]!;
}
