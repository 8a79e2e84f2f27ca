/** Counts what a deletion will take along, by the predicates with which it takes it. */
import type { Sql } from "../pool.ts";
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
}

export type CountedKind = Exclude<DeletionKind, "raw_file">;

/** The folder `$1` and all below it, without those that are deleted already. */
const TREE = `
  select id
  from folders
  where id = $1
    and deleted_at is null
  union all
  select child.id
  from folders child
  join tree on tree.id = child.parent_folder_id
  where child.deleted_at is null`;

/** `taken` are the documents, `tree` the folders that go with the target `$1`. */
const TAKEN: Readonly<Record<CountedKind, { readonly tree: string; readonly documents: string }>> = {
  document: { tree: "select null::uuid as id where $1::uuid is null", documents: "document.id = $1" },
  folder: { tree: TREE, documents: "document.folder_id in (select id from tree)" },
  space: {
    tree: "select id from folders where space_id = $1 and deleted_at is null",
    documents: "document.space_id = $1",
  },
};

/** What is in a space besides documents and folders goes with the space alone. */
const OF_SPACE: Readonly<Record<"agents" | "members" | "webhooks" | "api_keys" | "files", string>> = {
  files: "select count(*) from raw_files where space_id = $1 and deleted_at is null",
  agents: "select count(*) from agents where space_id = $1 and deleted_at is null",
  members: "select count(*) from space_members where space_id = $1",
  webhooks: "select count(*) from webhooks where space_id = $1 and deleted_at is null",
  // Keys that are narrowed to this space alone reach nothing any more.
  api_keys: `
    select count(*)
    from api_keys key
    where not key.all_spaces
      and key.revoked_at is null
      and exists (select from api_key_spaces chosen where chosen.api_key_id = key.id and chosen.space_id = $1)
      and not exists (
        select from api_key_spaces chosen where chosen.api_key_id = key.id and chosen.space_id <> $1
      )`,
};

/** Idempotent, and changes nothing. The counts are those of this moment. */
export async function countDeletion(sql: Sql, kind: CountedKind, targetId: string): Promise<DeletionCounts> {
  const { tree, documents } = TAKEN[kind];
  const besides = Object.entries(OF_SPACE).map(([name, statement]) =>
    kind === "space" ? `(${statement})::float8 as ${name}` : `0::float8 as ${name}`,
  );
  const { rows } = await sql.query<DeletionCounts>(
    `with recursive tree as (${tree}),
     taken as (
       select document.id, document.file_size, document.published_run_num
       from documents document
       where ${documents}
         and document.deleted_at is null
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
    [targetId],
  );
  return rows[0]!;
}
