/**
 * All SQL that finds documents by their fields. Only listed fields can filter and order, and only documents
 * in reach are found.
 */
import { type Reach, reachedSpaceIds } from "../../domain/tenancy/principal.ts";
import type { Clause, Condition, OrderTerm } from "../../domain/requests/conditions.ts";
import { DOCUMENT_COLUMNS, DOCUMENT_IS_VISIBLE, DOCUMENT_TABLES, type DocumentRow } from "./read.ts";
import { type FieldColumns, filterSql, type Parameters, parameters } from "../filter-sql.ts";
import { type Page, type PageRequest, readPage } from "../page.ts";
import type { Locking, Sql } from "../sql.ts";

/** Every field that a document shows, so that clients can filter by what they read. */
const FIELDS: FieldColumns = {
  id: "document.id",
  space_id: "document.space_id",
  folder_id: "document.folder_id",
  organization_id: "document.organization_id",
  created_by: "document.created_by",
  file_type: "document.file_type",
  file_size: "document.file_size",
  file_path:
    "('spaces/' || document.space_id || '/documents/' || document.id || '/original/' || document.name)",
  created_at: "document.created_at",
  updated_at: "document.updated_at",
  version: "document.published_version",
  "doc_metadata.*": "document.metadata",
  // What callers wrote alone, as attributes of a vector store's files.
  "attributes.*": "document.metadata",
  "doc_metadata.extracted": "nullif(document.extracted, '{}')",
  "doc_metadata.original_filename": "document.name",
  "doc_metadata.content_type": "document.content_type",
  "processing_state.parsed": "coalesce(run.parsed, false)",
  "processing_state.chunked": "coalesce(run.chunked, false)",
  "processing_state.embedded": "coalesce(run.embedded, false)",
  "processing_state.searchable": "(document.published_run_num is not null)",
  "processing_state.pipeline_run_id": "run.id",
  "processing_state.pipeline_status": "run.status",
  "processing_state.waiting_for": "run.waiting_for",
  "processing_state.waiting_for.code": "run.waiting_for",
  "processing_state.waiting_for.since":
    "(case when run.waiting_for is not null " +
    "then coalesce(run.waiting_since, run.started_at, run.created_at) end)",
  "processing_state.parser_name": "run.parser_name",
  "processing_state.parser_version": "run.parser_version",
  "processing_state.chunker_name": "(case when run.chunked then run.chunker_name end)",
  "processing_state.embedding_model": "(case when run.embedded then run.embedding_model end)",
};

/** The conditions on {@link DOCUMENT_TABLES}. @throws TypeError for a field that documents lack. */
export function documentFilterSql(conditions: readonly Clause[], params: Parameters): string {
  return filterSql(conditions, FIELDS, params);
}

/**
 * Returns a page of the documents in reach that meet the conditions. Reads the ids of the page first, because
 * the columns of a document are costly to compute and sorting would compute them for every match.
 */
export async function searchDocuments(
  sql: Sql,
  reach: Reach,
  search: { readonly filters: readonly Condition[]; readonly order_by: readonly OrderTerm[] },
  page: PageRequest,
): Promise<Page<DocumentRow>> {
  const spaceIds = reachedSpaceIds(reach);
  const { items, total } = await readPage<{ id: string }>(
    sql,
    {
      columns: "document.id",
      from: DOCUMENT_TABLES,
      where: DOCUMENT_IS_VISIBLE,
      order: { terms: search.order_by, fields: FIELDS },
      params: parameters([spaceIds]),
      filters: { conditions: search.filters, fields: FIELDS },
    },
    page,
  );
  if (items.length === 0) return { items: [], total };
  const { rows } = await sql.query<DocumentRow>(
    `select ${DOCUMENT_COLUMNS}
     from ${DOCUMENT_TABLES}
     where ${DOCUMENT_IS_VISIBLE}
       and document.id = any($2::uuid[])
     order by array_position($2::uuid[], document.id)`,
    [spaceIds, items.map((item) => item.id)],
  );
  return { items: rows, total };
}

export interface DocumentPlace {
  readonly id: string;
  readonly space_id: string;
  readonly folder_id: string | null;
}

/** What narrows the documents that a change of many is made to. */
export interface DocumentChoice {
  readonly filters: readonly Condition[];
  /** Only what is in these folders or below them; null does not narrow. */
  readonly folderIds: readonly string[] | null;
}

/** The folders `ids` of the spaces `$1`, and all below them. */
const treeOf = (ids: string): string => `(
         with recursive tree as (
           select id
           from folders
           where id = any(${ids}::uuid[])
             and space_id = any($1::uuid[])
             and deleted_at is null
           union
           select child.id
           from folders child
           join tree on tree.id = child.parent_folder_id
           where child.space_id = any($1::uuid[])
             and child.deleted_at is null
         )
         select id
         from tree
       )`;

/** Returns at most `limit` of the documents in reach that the choice lets through, oldest first. */
export async function findMatchingDocuments(
  sql: Sql,
  reach: Reach,
  { filters, folderIds }: DocumentChoice,
  limit: number,
): Promise<DocumentPlace[]> {
  const params = parameters([reachedSpaceIds(reach)]);
  const filtered = documentFilterSql(filters, params);
  const inFolders = folderIds === null ? "true" : `document.folder_id in ${treeOf(params.add(folderIds))}`;
  const { rows } = await sql.query<DocumentPlace>(
    `select document.id, document.space_id, document.folder_id
     from ${DOCUMENT_TABLES}
     where ${DOCUMENT_IS_VISIBLE}
       and ${filtered}
       and ${inFolders}
     order by document.id
     limit ${params.add(limit)}`,
    params.values,
  );
  return rows;
}

/** Returns those of the documents in reach. With `lock`, they cannot change until the transaction ends. */
export async function findDocumentPlaces(
  sql: Sql,
  reach: Reach,
  ids: readonly string[],
  { lock = false }: Locking = {},
): Promise<DocumentPlace[]> {
  const { rows } = await sql.query<DocumentPlace>(
    `select document.id, document.space_id, document.folder_id
     from ${DOCUMENT_TABLES}
     where ${DOCUMENT_IS_VISIBLE}
       and document.id = any($2::uuid[])
     ${lock ? "order by document.id for update of document" : ""}`,
    [reachedSpaceIds(reach), ids],
  );
  return rows;
}
