/** Says what of a space a search may see: published runs of documents not deleted, by the filters. */
import { languageFit } from "../../domain/language-fit.ts";
import type { Clause } from "../../domain/requests/conditions.ts";
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
  readonly conditions?: readonly Clause[] | undefined;
}

export interface SearchedModel {
  readonly name: string;
  readonly num: number;
  readonly dimensions: number;
  /** Published chunks of the space with its vectors. */
  readonly chunks: number;
  readonly hasIndex: boolean;
  /** How well it tells the space's texts apart, 0 to 1; null while that was not measured. */
  readonly languageFit: number | null;
}

export interface SearchScope {
  readonly spaceNum: number;
  /** Runs that have search entries but must not be found. */
  readonly hiddenRuns: readonly number[];
  /** If not null, only these runs are searched. */
  readonly runs: readonly number[] | null;
  /** Runs that others find, but which the filter of this search does not let through. */
  readonly excludedRuns: readonly number[];
  /** About how much of the space the search sees, 0 to 1. */
  readonly share: number;
  /** Published chunks of the space. */
  readonly chunks: number;
  /** Terms of those chunks, with repetitions. */
  readonly terms: number;
  readonly languages: readonly string[];
  /** The models of the space's published vectors; more than one while a new model takes over. */
  readonly models: readonly SearchedModel[];
}

interface ScopeQuestion {
  readonly space: SpaceRef;
  readonly filter: DocumentFilter;
}

/** The columns of a {@link SearchScope} but `runs`, of space `$1` with number `$2`, from {@link TOTALS}. */
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
                  ),
                  'auc', (
                    select fit.auc
                    from language_fits fit
                    where fit.space_num = $2::int
                      and fit.model_num = model.num
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
            null as runs,
            null as others,
            null as share
     from ${TOTALS}`;

/** The folders `$4` with all below them that are not deleted. */
const INSIDE = `with recursive inside as (
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
              )`;

/**
 * Documents that the search may see if its filter lets them through. The runs of those in deleted folders are
 * among the hidden ones.
 */
const ARE_PUBLISHED = `document.space_id = $1
                and document.deleted_at is null
                and document.published_run_num is not null`;

const isLetThrough = (condition: string): string => `
                ($4::uuid[] is null or document.folder_id in (select id from inside))
                and ${condition}`;

/** Narrowed to the documents `$3` and by `condition`: their rows are found by their ids. */
const documentsScope = (condition: string): string => `
     select ${SCOPE_COLUMNS},
            narrowed.runs,
            null as others,
            null as share
     from ${TOTALS}
     cross join (
       ${INSIDE}
       select coalesce(array_to_string(array_agg(document.published_run_num), ','), '') as runs
       from ${DOCUMENT_TABLES}
       where ${ARE_PUBLISHED}
         and document.id = any($3::uuid[])
         and ${isLetThrough(condition)}
     ) narrowed`;

/**
 * Narrowed to the folders `$4`, where null does not narrow, and by `condition`. All documents are looked at
 * once, and told apart; the shorter list says the same and costs less wherever it is compared with. Lists are
 * text, which the driver reads faster than an array.
 */
const filteredScope = (condition: string): string => `
     select ${SCOPE_COLUMNS},
            case when narrowed.share <= 0.5 then coalesce(array_to_string(narrowed.runs, ','), '') end as runs,
            case when narrowed.share > 0.5 then coalesce(array_to_string(narrowed.others, ','), '') end as others,
            narrowed.share
     from ${TOTALS}
     cross join (
       select array_agg(run) filter (where is_let_through) as runs,
              array_agg(run) filter (where not is_let_through) as others,
              count(*) filter (where is_let_through) / greatest(count(*), 1)::float8 as share
       from (
              ${INSIDE}
              select document.published_run_num as run,
                     coalesce($3::uuid[] is null and ${isLetThrough(condition)}, false) as is_let_through
              from ${DOCUMENT_TABLES}
              where ${ARE_PUBLISHED}
            ) told
     ) narrowed`;

interface ScopeRow {
  readonly hidden: number[];
  /** The runs that a filter lets through, joined by commas; null without one, and if `others` says it. */
  readonly runs: string | null;
  /** Those that it does not let through. */
  readonly others: string | null;
  /** Of the documents; null without a filter, and if the others were not looked at. */
  readonly share: number | null;
  readonly chunks: number;
  readonly terms: number;
  readonly languages: string[];
  readonly models: Array<Omit<SearchedModel, "languageFit"> & { readonly auc: number | null }>;
}

/**
 * Returns what a search of the space may see now. A document in a deleted folder is hidden at once, although
 * only the folder is marked at first.
 */
export async function readSearchScope(sql: Sql, { space, filter }: ScopeQuestion): Promise<SearchScope> {
  const { documentIds, folderIds, conditions = [] } = filter;
  const isFiltered = documentIds !== null || folderIds !== null || conditions.length > 0;
  const params = parameters([space.id, space.num, ...(isFiltered ? [documentIds, folderIds] : [])]);
  const condition = documentFilterSql(conditions, params);
  const narrowed = documentIds === null ? filteredScope(condition) : documentsScope(condition);
  const { rows } = await sql.query<ScopeRow>({
    // Planned once a connection; with a filter, each time for the documents and folders that it names.
    ...(isFiltered ? { text: narrowed } : { name: "search.read-scope", text: READ_SCOPE }),
    values: params.values,
  });
  const { hidden: hiddenRuns, share, chunks, terms, languages, models, ...lists } = rows[0]!;
  const runs = lists.runs === null ? null : numbersOf(lists.runs);
  return {
    spaceNum: space.num,
    hiddenRuns,
    runs,
    excludedRuns: numbersOf(lists.others ?? ""),
    // If no other documents were looked at, a share of the chunks, of which there are more.
    share: share ?? (runs === null ? 1 : runs.length / Math.max(1, chunks)),
    chunks,
    terms: Number(terms),
    languages,
    models: models.map(({ auc, ...model }) => ({
      ...model,
      languageFit: auc === null ? null : languageFit(auc),
    })),
  };
}

const numbersOf = (list: string): number[] => (list === "" ? [] : list.split(",").map(Number));

/** The chunks that the operators of a query require and exclude. */
export interface ChunkNarrowing {
  /** If not null, only these chunks are searched. */
  readonly required: readonly ChunkKey[] | null;
  readonly excluded: readonly ChunkKey[];
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
  const unseen = [...scope.hiddenRuns, ...scope.excludedRuns];
  if (unseen.length > 0) conditions.push(`embedding.run_num <> all(${value(unseen)}::int[])`);
  if (required !== null) conditions.push(isAmong(required));
  if (excluded.length > 0) conditions.push(`not ${isAmong(excluded)}`);
  return conditions.length === 0 ? "true" : conditions.join("\n         and ");
}
