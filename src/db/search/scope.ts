/** The only place that says what of a space a search may see: live runs, narrowed by documents and folders. */
import type { Sql } from "../pool.ts";

/** A chunk by the numbers that search works with. */
export interface ChunkKey {
  readonly run_num: number;
  readonly chunk_index: number;
}

export interface SpaceRef {
  readonly id: string;
  readonly num: number;
}

/** Null is no filter; an empty list narrows to nothing. */
interface DocumentFilter {
  readonly documentIds: readonly string[] | null;
  readonly folderIds: readonly string[] | null;
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
  /** Runs whose entries exist but are not to be seen. */
  readonly hiddenRuns: readonly number[];
  /** The only runs to be seen; null is no narrowing. */
  readonly runs: readonly number[] | null;
  /** Published chunks of the space and their terms together. */
  readonly chunks: number;
  readonly terms: number;
  /** The languages whose stems are among the space's terms. */
  readonly languages: readonly string[];
  /** The models of the space's published vectors: one, but while documents are embedded again by another. */
  readonly models: readonly SearchedModel[];
}

interface ScopeQuestion {
  readonly space: SpaceRef;
  readonly filter: DocumentFilter;
}

/**
 * A validated space number as SQL text. A literal, not a parameter, so that the planner sees one partition and one index.
 * @throws RangeError where it is no positive integer.
 */
export function spaceLiteral(spaceNum: number): string {
  if (!Number.isInteger(spaceNum) || spaceNum <= 0 || spaceNum > 2_147_483_647)
    throw new RangeError("not a space number");
  return String(spaceNum);
}

const FILTERED_RUNS = `array(
    with recursive inside as (
      select id from folders where id = any($4::uuid[]) and space_id = $1 and deleted_at is null
      union select f.id from folders f join inside i on f.parent_folder_id = i.id where f.deleted_at is null)
    select d.published_run_num from documents d left join folders f on f.id = d.folder_id
    where d.space_id = $1 and d.deleted_at is null and d.published_run_num is not null and f.deleted_at is null
      and ($3::uuid[] is null or d.id = any($3::uuid[])) and ($4::uuid[] is null or d.folder_id in (select id from inside)))`;

/**
 * What a search of the space may see now, in one statement.
 * A document in a deleted folder is hidden from the moment the folder is marked: only folders carry the mark at first.
 */
export async function readSearchScope(sql: Sql, { space, filter }: ScopeQuestion): Promise<SearchScope> {
  const num = "$2::int";
  const isFiltered = filter.documentIds !== null || filter.folderIds !== null;
  const { rows } = await sql.query<{
    hidden: number[];
    runs: number[] | null;
    chunks: number;
    terms: number;
    languages: string[];
    models: SearchedModel[];
  }>({
    // Planned once a connection; with a filter, each time for what it names.
    ...(isFiltered ? {} : { name: "search.read-scope" }),
    text: `select array(
        select run_num from hidden_runs where space_num = ${num}
        union all select d.published_run_num from folders f join documents d on d.folder_id = f.id
          where f.space_id = $1 and f.deleted_at is not null and d.published_run_num is not null) as hidden,
      ${isFiltered ? FILTERED_RUNS : "null::int[]"} as runs,
      coalesce(s.chunks, 0)::int as chunks, coalesce(s.terms, 0)::bigint as terms,
      array(select distinct l from posting_segments g cross join unnest(g.languages) l where g.space_num = ${num}) as languages,
      coalesce(s.models, '[]') as models
     from (select sum(chunks) as chunks, sum(terms) as terms, jsonb_agg(jsonb_build_object('name', m.name, 'num', m.num, 'dimensions', m.dimensions, 'chunks', t.chunks,
             'hasIndex', exists (select from vector_indexes v where v.space_num = ${num} and v.model_num = m.num)) order by m.num) filter (where t.chunks > 0 and m.num is not null) as models
           from (select embedding_model, sum(chunks) as chunks, sum(terms) as terms from space_statistics where space_num = ${num} group by embedding_model) t
           left join embedding_models m on m.name = t.embedding_model) s`,
    values: isFiltered ? [space.id, space.num, filter.documentIds, filter.folderIds] : [space.id, space.num],
  });
  const row = rows[0]!;
  const { hidden: hiddenRuns, runs, chunks, terms, languages, models } = row;
  return { spaceNum: space.num, hiddenRuns, runs, chunks, terms: Number(terms), languages, models };
}

/** Chunks that a query's operators demand and forbid. */
export interface ChunkNarrowing {
  /** The only chunks to be seen; null is no narrowing. */
  readonly required: readonly ChunkKey[] | null;
  readonly excluded: readonly ChunkKey[];
}

/** A list of integers as SQL text. @throws RangeError where one is none. */
export function integersLiteral(numbers: readonly number[]): string {
  if (!numbers.every(Number.isInteger)) throw new RangeError("not integers");
  return `'{${numbers.join(",")}}'`;
}

/** Lists of numbers of chunks, for `unnest($n::int[], $m::int[])`. */
export function keyColumns(keys: readonly ChunkKey[]): [number[], number[]] {
  return [keys.map((key) => key.run_num), keys.map((key) => key.chunk_index)];
}

/**
 * ` and …` conditions on the search entry `entry`.
 * @param value makes SQL of a list, as a parameter or in the text: a query is planned with it in sight.
 */
export function seenIn(
  scope: SearchScope,
  conditions: ChunkNarrowing,
  entry: string,
  value: (numbers: readonly number[]) => string,
): string {
  const parts: string[] = [];
  if (scope.runs !== null) parts.push(`${entry}.run_num = any(${value(scope.runs)}::int[])`);
  if (scope.hiddenRuns.length > 0) parts.push(`${entry}.run_num <> all(${value(scope.hiddenRuns)}::int[])`);
  const isIn = (keys: readonly ChunkKey[]): string => {
    const [runs, indexes] = keyColumns(keys);
    return `(${entry}.run_num, ${entry}.chunk_index) in (select * from unnest(${value(runs)}::int[], ${value(indexes)}::int[]))`;
  };
  if (conditions.required !== null) parts.push(isIn(conditions.required));
  if (conditions.excluded.length > 0) parts.push(`not ${isIn(conditions.excluded)}`);
  return parts.map((part) => ` and ${part}`).join("");
}
