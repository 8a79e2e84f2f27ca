/** Finds the objects to encrypt again, replaces one by its copy, counts what needs an older key. */
import type { Sql } from "../sql.ts";

/**
 * A condition on `holder`, a row that names an object: nothing that it belongs to is being deleted. A
 * deletion knows the names of objects beforehand, so they must not change.
 */
const IS_LIVE = `
  exists (
    select
    from spaces space
    join organizations organization
      on organization.id = space.organization_id
      and organization.deleted_at is null
    where space.id = holder.space_id
      and space.deleted_at is null
  )
  and not exists (
    select
    from documents document
    left join folders folder on folder.id = document.folder_id
    where document.id = holder.document_id
      and (document.deleted_at is not null or folder.deleted_at is not null)
  )`;

/** The sweep of intents adds most of a day. Until then, readers of a row can read its object. */
const KEPT_FOR = "1 hour";

const NAMED_OBJECTS = `
  (
    select holder.object_key
    from raw_files holder
    where holder.organization_id = $1
      and holder.object_key > $2
      and holder.deleted_at is null
      and ${IS_LIVE}
    order by 1
    limit $3
  )
  union
  (
    select holder.object_key
    from pipeline_runs holder
    where holder.organization_id = $1
      and holder.object_key > $2
      and not holder.object_purged
      and ${IS_LIVE}
    order by 1
    limit $3
  )
  union
  (
    select held.object_key
    from openai_files held
    where held.organization_id = $1
      and held.object_key > $2
      and exists (
        select
        from organizations organization
        where organization.id = $1
          and organization.deleted_at is null
      )
    order by 1
    limit $3
  )
  order by 1
  limit $3`;

/** Lists object names of rows of the organization after `after`, in byte order; none if it is deleted. */
export async function listNamedObjects(
  sql: Sql,
  organizationId: string,
  { after, limit }: { readonly after: string | null; readonly limit: number },
): Promise<string[]> {
  const { rows } = await sql.query<{ object_key: string }>(NAMED_OBJECTS, [
    organizationId,
    after ?? "",
    limit,
  ]);
  return rows.map((row) => row.object_key);
}

/** Counts what {@link listNamedObjects} lists over all its pages. */
export async function countNamedObjects(sql: Sql, organizationId: string): Promise<number> {
  const { rows } = await sql.query<{ count: number }>(
    `select count(*)::int as count
     from (
       select holder.object_key
       from raw_files holder
       where holder.organization_id = $1
         and holder.object_key is not null
         and holder.deleted_at is null
         and ${IS_LIVE}
       union
       select holder.object_key
       from pipeline_runs holder
       where holder.organization_id = $1
         and not holder.object_purged
         and ${IS_LIVE}
       union
       select held.object_key
       from openai_files held
       where held.organization_id = $1
         and exists (
           select
           from organizations organization
           where organization.id = $1
             and organization.deleted_at is null
         )
     ) named`,
    [organizationId],
  );
  return rows[0]!.count;
}

/**
 * Gives every row that names the object `from` the name `to`, deletes the intent of `to`, and leaves `from`
 * to the sweep of intents, which deletes the object a day later.
 * @returns false, with nothing changed, if no row names `from` any more, or what it belongs to is being
 *   deleted.
 */
export async function exchangeObject(
  sql: Sql,
  organizationId: string,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<boolean> {
  // First, and with the raw files locked: whoever makes a document of a file holds these rows, and has
  // committed it when the next statements look for what names the object.
  const { rowCount: held } = await sql.query(
    `update openai_files
     set object_key = $3
     where organization_id = $1
       and object_key = $2`,
    [organizationId, from, to],
  );
  await sql.query(
    `select
     from raw_files
     where organization_id = $1
       and object_key = $2
     order by id
     for update`,
    [organizationId, from],
  );
  const { rowCount: files } = await sql.query(
    `update raw_files holder
     set object_key = $3
     where holder.organization_id = $1
       and holder.object_key = $2
       and holder.deleted_at is null
       and ${IS_LIVE}`,
    [organizationId, from, to],
  );
  const { rowCount: runs } = await sql.query(
    `update pipeline_runs holder
     set object_key = $3
     where holder.organization_id = $1
       and holder.object_key = $2
       and not holder.object_purged
       and ${IS_LIVE}`,
    [organizationId, from, to],
  );
  if ((held ?? 0) + (files ?? 0) + (runs ?? 0) === 0) return false;
  await sql.query(
    `delete from upload_intents
     where organization_id = $1
       and object_key = $2`,
    [organizationId, to],
  );
  await sql.query(
    `insert into upload_intents (object_key, organization_id, leased_until)
     values ($2, $1, now() + interval '${KEPT_FOR}')
     on conflict (object_key) do nothing`,
    [organizationId, from],
  );
  return true;
}

interface KeyUsers {
  /** Uploads that are under way and may have begun with an older key. */
  readonly uploads: number;
  /** Kept answers of chat turns; they are deleted within a day. */
  readonly kept_answers: number;
}

/** Tables of kept answers, each row of which one key seals. */
const SEALED_ONCE = [
  "kept_turns",
  "kept_turn_pieces",
  "mcp_answer_messages",
  "response_events",
  "response_items",
] as const;

const countOfOlderKeys = (table: (typeof SEALED_ONCE)[number]): string =>
  `(select count(*)::int from ${table} where organization_id = $1 and key_id <> $2)`;

/**
 * Counts what still needs another key of the organization than `keyId`, the current one.
 * @param until since when no process begins an upload with an older key.
 */
export async function countKeyUsers(
  sql: Sql,
  organizationId: string,
  { keyId, until }: { readonly keyId: string; readonly until: Date },
): Promise<KeyUsers> {
  const { rows } = await sql.query<KeyUsers>(
    `select (
              select count(*)::int
              from upload_intents
              where organization_id = $1
                and created_at < $3
            ) as uploads,
            (
              select count(*)::int
              from responses
              where organization_id = $1
                and (request_key_id <> $2 or response_key_id <> $2)
            ) + ${SEALED_ONCE.map(countOfOlderKeys).join(" + ")} as kept_answers`,
    [organizationId, keyId, until],
  );
  return rows[0]!;
}
