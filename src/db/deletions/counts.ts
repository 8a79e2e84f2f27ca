/** Counts what a deletion will take along, by the predicates with which it takes it. */
import type { Sql } from "../pool.ts";
import { IS_UNDER_WAY } from "../turns/ledger.ts";
import type { DeletionKind } from "./accept.ts";

export interface DeletionCounts {
  readonly documents: number;
  readonly files: number;
  readonly bytes: number;
  readonly folders: number;
  readonly versions: number;
  readonly chunks: number;
  readonly runs_under_way: number;
  readonly agents: number;
  readonly members: number;
  readonly api_keys: number;
  readonly webhooks: number;
  readonly spaces: number;
  readonly turns_under_way: number;
}

const NOTHING: DeletionCounts = {
  documents: 0,
  files: 0,
  bytes: 0,
  folders: 0,
  versions: 0,
  chunks: 0,
  runs_under_way: 0,
  agents: 0,
  members: 0,
  api_keys: 0,
  webhooks: 0,
  spaces: 0,
  turns_under_way: 0,
};

/** An agent takes nothing along: what it was asked is not kept, and a turn that runs is answered. */
export const DELETION_OF_AGENT: DeletionCounts = { ...NOTHING, agents: 1 };

export type CountedKind = Exclude<DeletionKind, "raw_file">;

/** The folders `$1` of the organization `$2` and all below them, without those that are deleted already. */
const TREE = `
  select id
  from folders
  where id = any($1::uuid[])
    and organization_id = $2
    and deleted_at is null
  union
  select child.id
  from folders child
  join tree on tree.id = child.parent_folder_id
  where child.organization_id = $2
    and child.deleted_at is null`;

/** `taken` are the documents, `tree` the folders that go with the targets `$1`. */
const TAKEN: Readonly<Record<CountedKind, { readonly tree: string; readonly documents: string }>> = {
  document: {
    tree: "select null::uuid as id where $1::uuid[] is null",
    documents: "document.id = any($1::uuid[])",
  },
  folder: { tree: TREE, documents: "document.folder_id in (select id from tree)" },
  space: {
    tree: `select id
       from folders
       where space_id = any($1::uuid[])
         and organization_id = $2
         and deleted_at is null`,
    documents: "document.space_id = any($1::uuid[])",
  },
};

/** Narrows a table to the spaces `$1` of the organization `$2`. */
const OF_TARGETS = "space_id = any($1::uuid[]) and organization_id = $2";

/** What is in a space besides documents and folders goes with the space alone. */
const OF_SPACE: Readonly<Record<"agents" | "members" | "webhooks" | "api_keys" | "files", string>> = {
  // Path folders are rows without an object. The files of a folder that is deleted went with it.
  files: `
    select count(*)
    from raw_files file
    left join documents document on document.id = file.document_id
    left join folders folder on folder.id = document.folder_id
    where file.space_id = any($1::uuid[])
      and file.organization_id = $2
      and file.object_key is not null
      and file.deleted_at is null
      and folder.deleted_at is null`,
  agents: `select count(*) from agents where ${OF_TARGETS} and deleted_at is null`,
  members: `select count(*) from space_members where ${OF_TARGETS}`,
  webhooks: `select count(*) from webhooks where ${OF_TARGETS} and deleted_at is null`,
  // Keys that are narrowed to these spaces alone reach nothing any more.
  api_keys: `
    select count(*)
    from api_keys key
    where key.organization_id = $2
      and not key.all_spaces
      and key.revoked_at is null
      and exists (
        select from api_key_spaces chosen where chosen.api_key_id = key.id and chosen.space_id = any($1::uuid[])
      )
      and not exists (
        select from api_key_spaces chosen where chosen.api_key_id = key.id and chosen.space_id <> all($1::uuid[])
      )`,
};

interface Targets {
  readonly organizationId: string;
  readonly kind: CountedKind;
  readonly ids: readonly string[];
}

/** Idempotent, and changes nothing. The counts are those of this moment. */
export async function countDeletion(
  sql: Sql,
  { organizationId, kind, ids }: Targets,
): Promise<DeletionCounts> {
  const { tree, documents } = TAKEN[kind];
  const besides = Object.entries(OF_SPACE).map(([name, statement]) =>
    kind === "space" ? `(${statement})::float8 as ${name}` : `0::float8 as ${name}`,
  );
  const { rows } = await sql.query<Partial<DeletionCounts>>(
    `with recursive tree as (${tree}),
     taken as (
       select document.id, document.file_size, document.published_run_num
       from documents document
       left join folders folder on folder.id = document.folder_id
       where ${documents}
         and document.organization_id = $2
         and document.deleted_at is null
         and folder.deleted_at is null
     )
     select (select count(*) from taken)::float8 as documents,
            (select coalesce(sum(file_size), 0) from taken)::float8 as bytes,
            (select count(*) from tree)::float8 as folders,
            run.versions,
            run.chunks,
            run.runs_under_way,
            ${besides.join(",\n            ")}
     from (
       select count(*)::float8 as versions,
              coalesce(sum(run.chunk_count) filter (where run.num = taken.published_run_num), 0)::float8 as chunks,
              (count(*) filter (where run.status not in ('completed', 'failed', 'cancelled')))::float8
                as runs_under_way
       from taken
       join pipeline_runs run on run.document_id = taken.id
     ) run`,
    [ids, organizationId],
  );
  return { ...NOTHING, ...rows[0] };
}

/** What the end of a membership takes along: keys, webhooks, roles, turns, ownership. Changes nothing. */
export async function countMemberRemoval(
  sql: Sql,
  organizationId: string,
  userId: string,
): Promise<DeletionCounts> {
  const { rows } = await sql.query<Partial<DeletionCounts>>(
    `select (
              select count(*) from api_keys
              where user_id = $1 and organization_id = $2 and revoked_at is null
            )::float8 as api_keys,
            (
              select count(*) from webhooks
              where created_by = $1 and organization_id = $2 and status = 'active'
            )::float8 as webhooks,
            (
              select count(*) from turns
              where user_id = $1 and organization_id = $2 and ${IS_UNDER_WAY}
            )::float8 as turns_under_way,
            count(*)::float8 as members,
            (count(*) filter (
              where role.role = 'owner'
                and not exists (
                  select
                  from space_members other
                  where other.space_id = role.space_id
                    and other.user_id <> $1
                    and other.role = 'owner'
                )
            ))::float8 as spaces
     from space_members role
     join spaces space on space.id = role.space_id
     where role.user_id = $1
       and role.organization_id = $2
       and not space.is_private
       and space.deleted_at is null`,
    [userId, organizationId],
  );
  return { ...NOTHING, ...rows[0] };
}
