/** All SQL that finds documents by their fields: white-listed filters and orders, narrowed by reach before anything else. */
import { type Reach, reachedSpaceIds } from "../../domain/tenancy/principal.ts";
import type { Condition, OrderTerm } from "../../domain/requests/conditions.ts";
import { DOCUMENT_COLUMNS, DOCUMENT_LIVES, DOCUMENT_TABLES, type DocumentRow } from "./read.ts";
import { type FieldColumns, filterSql, parameters } from "../filter-sql.ts";
import { type Page, type PageRequest, readPage } from "../page.ts";
import type { Sql } from "../pool.ts";
import { WAITING_SINCE } from "../runs/waits.ts";

/** As a document shows them: what a client read in one it can filter by. */
const FIELDS: FieldColumns = {
  id: "d.id",
  space_id: "d.space_id",
  folder_id: "d.folder_id",
  organization_id: "d.organization_id",
  created_by: "d.created_by",
  file_type: "d.file_type",
  file_size: "d.file_size",
  file_path: "('spaces/' || d.space_id || '/documents/' || d.id || '/original/' || d.name)",
  created_at: "d.created_at",
  updated_at: "d.updated_at",
  version: "d.published_version",
  "doc_metadata.*": "d.metadata",
  "doc_metadata.extracted": "coalesce(d.metadata -> 'extracted', nullif(d.extracted, '{}'))",
  "doc_metadata.original_filename": "d.name",
  "doc_metadata.content_type": "d.content_type",
  "processing_state.parsed": "coalesce(r.parsed, false)",
  "processing_state.chunked": "coalesce(r.chunked, false)",
  "processing_state.embedded": "coalesce(r.embedded, false)",
  "processing_state.pipeline_status": "r.status",
  "processing_state.waiting_for": "r.waiting_for",
  "processing_state.waiting_for.code": "r.waiting_for",
  "processing_state.waiting_for.since": WAITING_SINCE,
  "processing_state.parser_name": "r.parser_name",
  "processing_state.chunker_name": "(case when r.chunked then r.chunker_name end)",
  "processing_state.embedding_model": "(case when r.embedded then r.embedding_model end)",
};

interface DocumentSearch {
  readonly filters: readonly Condition[];
  readonly order_by: readonly OrderTerm[];
}

/**
 * A page of the documents reached that the conditions let through. Its ids come first: what a document shows is put together for those of
 * the page alone, not for all that are sorted.
 */
export async function searchDocuments(
  sql: Sql,
  reach: Reach,
  search: DocumentSearch,
  page: PageRequest,
): Promise<Page<DocumentRow>> {
  const spaceIds = reachedSpaceIds(reach);
  const { items, total } = await readPage<{ id: string }>(
    sql,
    {
      columns: "d.id",
      from: DOCUMENT_TABLES,
      where: DOCUMENT_LIVES,
      order: { terms: search.order_by, fields: FIELDS },
      params: parameters([spaceIds]),
      filters: { conditions: search.filters, fields: FIELDS },
    },
    page,
  );
  if (items.length === 0) return { items: [], total };
  const { rows } = await sql.query<DocumentRow>(
    `select ${DOCUMENT_COLUMNS} from ${DOCUMENT_TABLES} where ${DOCUMENT_LIVES} and d.id = any($2::uuid[]) order by array_position($2::uuid[], d.id)`,
    [spaceIds, items.map((item) => item.id)],
  );
  return { items: rows, total };
}

export interface DocumentPlace {
  readonly id: string;
  readonly space_id: string;
}

/** Where the documents lie that the conditions let through, oldest first, at most `limit`. */
export async function findMatchingDocuments(
  sql: Sql,
  reach: Reach,
  conditions: readonly Condition[],
  limit: number,
): Promise<DocumentPlace[]> {
  const params = parameters([reachedSpaceIds(reach)]);
  const filtered = filterSql(conditions, FIELDS, params);
  const text = `select d.id, d.space_id from ${DOCUMENT_TABLES} where ${DOCUMENT_LIVES} and ${filtered} order by d.id limit ${params.add(limit)}`;
  return (await sql.query<DocumentPlace>(text, params.values)).rows;
}

/** Where those of the documents lie that are reached. */
export async function findDocumentPlaces(
  sql: Sql,
  reach: Reach,
  ids: readonly string[],
): Promise<DocumentPlace[]> {
  const text = `select d.id, d.space_id from ${DOCUMENT_TABLES} where ${DOCUMENT_LIVES} and d.id = any($2::uuid[])`;
  return (await sql.query<DocumentPlace>(text, [reachedSpaceIds(reach), ids])).rows;
}
