/**
 * Says what of a space a search may see: the published runs of documents that are not deleted, narrowed by
 * filters.
 */
import type { Condition } from "../../domain/requests/conditions.ts";
import { DOCUMENT_TABLES } from "../documents/read.ts";
import { documentFilterSql } from "../documents/search.ts";
import { parameters } from "../filter-sql.ts";
import type { Sql } from "../pool.ts";

/** Identifies a chunk by the numbers that search entries carry. */
export interface ChunkKey {
  readonly run_num: number;
  readonly chunk_index: number;
}

export interface SpaceRef {
  readonly id: string;
  readonly num: number;
}

/** Null does not filter; an empty list lets nothing through. */
interface DocumentFilter {
  readonly documentIds: readonly string[] | null;
  readonly folderIds: readonly string[] | null;
  /** On the fields of documents. */
  readonly conditions?: readonly Condition[] | undefined;
}

export interface SearchedModel {
  readonly name: string;
  readonly num: number;
  readonly dimensions: number;
  /** Published chunks of the space with its vectors. */
  readonly chunks: number;
  /** Whether its vectors of the space have an index. */
  readonly hasIndex: boolean;
}

export interface SearchScope {
  readonly spaceNum: number;
  /** Runs that have search entries but must not be found. */
  readonly hiddenRuns: readonly number[];
  /** If not null, only these runs are searched. */
  readonly runs: readonly number[] | null;
  /** About how much of the space those runs are, 0 to 1. */
  readonly share: number;
  /** Published chunks of the space. */
  readonly chunks: number;
  /** Terms of those chunks, with repetitions. */
  readonly terms: number;
  /** The languages whose stems are among the space's terms. */
  readonly languages: readonly string[];
  /**
   * The models of the space's published vectors; more than one while documents are embedded again by a new
   * model.
   */
  readonly models: readonly SearchedModel[];
}

interface ScopeQuestion {
  readonly space: SpaceRef;
  readonly filter: DocumentFilter;
}

/**
 * Returns a validated number of a space, a model or its dimensions as SQL text. Statements on `embeddings`
 * have them as literals instead of parameters, so that the planner sees one partition and one index.
 * @throws RangeError if it is not a positive `integer`.
 */
export function positiveLiteral(number: number): string {
  if (!Number.isInteger(number) || number <= 0 || number > 2_147_483_647)
    throw new RangeError("not a space number");
  return String(number);
}

/**
 * The columns of a {@link SearchScope} but `runs`, of space `$1` with number `$2`.
 * To be read from {@link TOTALS}.
 */
const SCOPE_COLUMNS = `array(
              select run_num
              from hidden_runs
              where space_num = $2::int
              union all
              select document.published_run_num
              from folders folder
              join documents document on document.folder_id = folder.id
              where folder.space_id = $1
                and folder.deleted_at is not null
                and document.published_run_num is not null
            ) as hidden,
            coalesce(totals.chunks, 0)::int as chunks,
            coalesce(totals.terms, 0)::bigint as terms,
            array(
              select distinct language
              from posting_segments segment
              cross join unnest(segment.languages) language
              where segment.space_num = $2::int
            ) as languages,
            coalesce(totals.models, '[]') as models`;

/** One row, named `totals`: the statistics of the space with number `$2`, over all models and of each. */
const TOTALS = `(
       select sum(by_model.chunks) as chunks,
              sum(by_model.terms) as terms,
              jsonb_agg(
                jsonb_build_object(
                  'name', model.name,
                  'num', model.num,
                  'dimensions', model.dimensions,
                  'chunks', by_model.chunks,
                  'hasIndex', exists (
                    select
                    from vector_indexes
                    where vector_indexes.space_num = $2::int
                      and vector_indexes.model_num = model.num
                  )
                ) order by model.num
              ) filter (where by_model.chunks > 0 and model.num is not null) as models
       from (
         select embedding_model,
                sum(chunks) as chunks,
                sum(terms) as terms
         from space_statistics
         where space_num = $2::int
         group by embedding_model
       ) by_model
       left join embedding_models model on model.name = by_model.embedding_model
     ) totals`;

const READ_SCOPE = `
     select ${SCOPE_COLUMNS},
            null::int[] as runs,
            0 as documents
     from ${TOTALS}`;

/**
 * Narrowed to the documents `$3` and the folders `$4` with their descendants, where null does not narrow, and
 * by `condition`. `run` is a document's latest run; without a condition on it Postgres leaves its join out.
 */
const filteredScope = (condition: string): string => `
     select ${SCOPE_COLUMNS},
            (
              select count(*)::int
              from documents
              where space_id = $1
                and deleted_at is null
            ) as documents,
            array(
              with recursive inside as (
                select id
                from folders
                where id = any($4::uuid[])
                  and space_id = $1
                  and deleted_at is null
                union
                select child.id
                from folders child
                join inside on child.parent_folder_id = inside.id
                where child.deleted_at is null
              )
              select document.published_run_num
              from ${DOCUMENT_TABLES}
              where document.space_id = $1
                and document.deleted_at is null
                and document.published_run_num is not null
                and folder.deleted_at is null
                and ($3::uuid[] is null or document.id = any($3::uuid[]))
                and ($4::uuid[] is null or document.folder_id in (select id from inside))
                and ${condition}
            ) as runs
     from ${TOTALS}`;

/**
 * Returns what a search of the space may see now. A document in a deleted folder is hidden at once, although
 * only the folder is marked at first.
 */
export async function readSearchScope(sql: Sql, { space, filter }: ScopeQuestion): Promise<SearchScope> {
  const { documentIds, folderIds, conditions = [] } = filter;
  const isFiltered = documentIds !== null || folderIds !== null || conditions.length > 0;
  const params = parameters([space.id, space.num, ...(isFiltered ? [documentIds, folderIds] : [])]);
  const { rows } = await sql.query<{
    hidden: number[];
    runs: number[] | null;
    documents: number;
    chunks: number;
    terms: number;
    languages: string[];
    models: SearchedModel[];
  }>({
    // Planned once a connection; with a filter, each time for the documents and folders that it names.
    ...(isFiltered ? {} : { name: "search.read-scope" }),
    text: isFiltered ? filteredScope(documentFilterSql(conditions, params)) : READ_SCOPE,
    values: params.values,
  });
  const row = rows[0]!;
  const { hidden: hiddenRuns, runs, documents, chunks, terms, languages, models } = row;
  const share = runs === null ? 1 : Math.min(1, runs.length / Math.max(1, documents));
  return { spaceNum: space.num, hiddenRuns, runs, share, chunks, terms: Number(terms), languages, models };
}

/** The chunks that the operators of a query require and exclude. */
export interface ChunkNarrowing {
  /** If not null, only these chunks are searched. */
  readonly required: readonly ChunkKey[] | null;
  readonly excluded: readonly ChunkKey[];
}

/** Returns a list of integers as SQL text. @throws RangeError if one is not an integer. */
export function integersLiteral(numbers: readonly number[]): string {
  if (!numbers.every(Number.isInteger)) throw new RangeError("not integers");
  return `'{${numbers.join(",")}}'`;
}

/** Returns the keys as two columns, for `unnest($n::int[], $m::int[])`. */
export function keyColumns(keys: readonly ChunkKey[]): [number[], number[]] {
  return [keys.map((key) => key.run_num), keys.map((key) => key.chunk_index)];
}

/**
 * Returns the condition that table `embeddings`, as `embedding`, must meet to be visible. It is put together
 * from the parts that the search needs, since a condition that is always true would change the plan of the
 * hottest statement: Postgres turns `in (select …)` into a join only if no `or` is around it.
 * @param value makes SQL of a list, as a parameter or as text.
 */
export function visibleIn(
  scope: SearchScope,
  { required, excluded }: ChunkNarrowing,
  value: (numbers: readonly number[]) => string,
): string {
  const isAmong = (keys: readonly ChunkKey[]): string => {
    const [runs, indexes] = keyColumns(keys).map(value);
    return `(embedding.run_num, embedding.chunk_index) in (
           select * from unnest(${runs}::int[], ${indexes}::int[])
         )`;
  };
  const conditions: string[] = [];
  if (scope.runs !== null) conditions.push(`embedding.run_num = any(${value(scope.runs)}::int[])`);
  if (scope.hiddenRuns.length > 0)
    conditions.push(`embedding.run_num <> all(${value(scope.hiddenRuns)}::int[])`);
  if (required !== null) conditions.push(isAmong(required));
  if (excluded.length > 0) conditions.push(`not ${isAmong(excluded)}`);
  return conditions.length === 0 ? "true" : conditions.join("\n         and ");
}
