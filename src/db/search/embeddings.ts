/**
 * SQL that writes the embeddings that search reads, from the cache, and that finds nearest neighbours among
 * them.
 */
import pgvector from "pgvector";
import { VECTOR_INDEX_NUMBERS } from "../../domain/work/index-upkeep.ts";
import type { OrganizationKey, Sql } from "../pool.ts";
import {
  type ChunkKey,
  type ChunkNarrowing,
  type SearchScope,
  integersLiteral,
  keyColumns,
  spaceLiteral,
  visibleIn,
} from "./scope.ts";

/** The largest `integer` of Postgres. */
const MAX_INTEGER = 2_147_483_647;

interface EmbeddingsToWrite {
  readonly organization: OrganizationKey;
  readonly spaceNum: number;
  readonly modelNum: number;
  readonly runNums: readonly number[];
  /** Writes only these chunk indexes of each run, both ends included; by default all. */
  readonly chunks?: { readonly from: number; readonly to: number };
}

/** Writes the search entry of every chunk whose text has a cached vector of the model. Idempotent. */
export async function insertEmbeddingsFromCache(
  sql: Sql,
  { organization, spaceNum, modelNum, runNums, chunks }: EmbeddingsToWrite,
): Promise<void> {
  await sql.query({
    name: "search.insert-embeddings",
    text: `insert into embeddings (organization_num, space_num, run_num, chunk_index, model_num, embedding)
           select $1, $2, chunk.run_num, chunk.chunk_index, $3, cached.embedding
           from chunks chunk
           join embedding_cache cached
             on cached.organization_id = $4
            and cached.model_num = $3
            and cached.content_hash = chunk.content_hash
           where chunk.organization_id = $4
             and chunk.run_num = any($5::int[])
             and chunk.chunk_index between $6 and $7
           on conflict do nothing`,
    values: [
      organization.num,
      spaceNum,
      modelNum,
      organization.id,
      runNums,
      chunks?.from ?? 0,
      chunks?.to ?? MAX_INTEGER,
    ],
  });
}

export interface QueryVector {
  readonly vector: Float32Array;
  readonly modelNum: number;
  readonly dimensions: number;
}

export interface DenseCandidate extends ChunkKey {
  /** From -1 to 1. */
  readonly cosine: number;
}

/**
 * Returns the SQL of the cosine distance between `embedding.embedding` and the query. The cast names the
 * dimensions, as the expression of the vector index does; they are a number, never input.
 * @param value makes SQL of the vector, as a parameter or as text; a vector consists of numbers only.
 * @throws RangeError if the vector does not have the model's dimensions.
 */
function distanceTo({ vector, dimensions }: QueryVector, value: (vector: string) => string): string {
  if (!Number.isInteger(dimensions) || vector.length !== dimensions)
    throw new RangeError(`a query vector has ${vector.length} dimensions, not ${dimensions}`);
  const query = value(pgvector.toSql(Array.from(vector))!);
  return `embedding.embedding::halfvec(${dimensions}) <=> ${query}::halfvec(${dimensions})`;
}

/** Appends a value to the parameters and returns its placeholder. */
const parameterOf =
  (values: unknown[]) =>
  (value: unknown): string =>
    `$${values.push(value)}`;

interface Nearest {
  readonly query: QueryVector;
  readonly limit: number;
}

/**
 * Returns the `limit` nearest chunks, nearest first, equal ones by run and index. The result is exact unless
 * the space is large enough to have a vector index, which misses about 1% of the nearest chunks. It always
 * has `limit` chunks if there are as many.
 *
 * `test/db/search/index/vector-indexes.database.test.ts` compares both ways.
 */
export async function denseCandidates(
  sql: Sql,
  scope: SearchScope,
  narrowing: ChunkNarrowing,
  nearest: Nearest,
): Promise<DenseCandidate[]> {
  if (!isIndexed(scope, narrowing, nearest)) return scanAll(sql, scope, narrowing, nearest);
  const found = await scanIndex(sql, scope, narrowing, nearest);
  if (found.length >= nearest.limit) return found;
  // Deleted and hidden vectors take up places in the graph, so it may yield too few.
  await sql.query(
    `select set_config('enable_seqscan', 'on', true),
            set_config('enable_bitmapscan', 'on', true)`,
  );
  return scanAll(sql, scope, narrowing, nearest);
}

/**
 * The index serves searches of a whole large space; a search narrowed to documents or phrases scans its
 * vectors.
 */
function isIndexed(
  { models, runs }: SearchScope,
  { required }: ChunkNarrowing,
  { query, limit }: Nearest,
): boolean {
  const model = models.find((one) => one.num === query.modelNum);
  return (
    model !== undefined &&
    model.hasIndex &&
    runs === null &&
    required === null &&
    model.chunks * query.dimensions >= VECTOR_INDEX_NUMBERS / 2 &&
    limit <= MAX_EXPLORED
  );
}

/** Reads every vector of the scope. The `+ 0` keeps the planner from using a vector index. */
async function scanAll(
  sql: Sql,
  scope: SearchScope,
  narrowing: ChunkNarrowing,
  { query, limit }: Nearest,
): Promise<DenseCandidate[]> {
  const values: unknown[] = [];
  const distance = distanceTo(query, parameterOf(values));
  const isVisible = visibleIn(scope, narrowing, parameterOf(values));
  const space = spaceLiteral(scope.spaceNum);
  const model = parameterOf(values)(query.modelNum);
  const most = parameterOf(values)(limit);
  const { rows } = await sql.query<DenseCandidate>(
    `select nearest.run_num,
            nearest.chunk_index,
            1 - nearest.distance as cosine
     from (
       select embedding.run_num,
              embedding.chunk_index,
              (${distance}) + 0 as distance
       from embeddings embedding
       where embedding.space_num = ${space}
         and embedding.model_num = ${model}
         and ${isVisible}
       order by distance, embedding.run_num, embedding.chunk_index
       limit ${most}
     ) nearest
     order by nearest.distance, nearest.run_num, nearest.chunk_index`,
    values,
  );
  return rows;
}

/**
 * Candidates of the graph to explore for each chunk that is wanted, in a space of up to `EXPLORED_CHUNKS`
 * chunks.
 */
const EXPLORED = 4;
/** In larger spaces the number grows with the square root of their size. */
const EXPLORED_CHUNKS = 100_000;
/** The upper bound of pgvector's `hnsw.ef_search`. */
const MAX_EXPLORED = 1_000;

/** The value of `hnsw.ef_search` for the search. */
function explored({ models }: SearchScope, { query, limit }: Nearest): number {
  const chunks = models.find((model) => model.num === query.modelNum)?.chunks ?? 0;
  return Math.min(
    MAX_EXPLORED,
    Math.round(limit * EXPLORED * Math.sqrt(Math.max(1, chunks / EXPLORED_CHUNKS))),
  );
}

/**
 * Walks the vector index of the space. Space and model are literals, because the index is partial and the
 * planner must see that it applies. The statements take one round trip, which rules out parameters. The
 * settings stay for the rest of the transaction, in which a search reads only a few rows by their keys.
 */
async function scanIndex(
  sql: Sql,
  scope: SearchScope,
  narrowing: ChunkNarrowing,
  nearest: Nearest,
): Promise<DenseCandidate[]> {
  const { query, limit } = nearest;
  const distance = distanceTo(query, (vector) => `'${vector}'`);
  const isVisible = visibleIn(scope, narrowing, integersLiteral);
  const space = spaceLiteral(scope.spaceNum);
  const model = spaceLiteral(query.modelNum);
  const results = await sql.query<DenseCandidate>(
    `select set_config('hnsw.ef_search', '${explored(scope, nearest)}', true),
            set_config('hnsw.iterative_scan', 'relaxed_order', true),
            set_config('enable_seqscan', 'off', true),
            set_config('enable_bitmapscan', 'off', true);
     select nearest.run_num,
            nearest.chunk_index,
            1 - nearest.distance as cosine
     from (
       select embedding.run_num,
              embedding.chunk_index,
              ${distance} as distance
       from embeddings embedding
       where embedding.space_num = ${space}
         and embedding.model_num = ${model}
         and ${isVisible}
       order by distance
       limit ${Math.trunc(limit)}
     ) nearest
     order by nearest.distance, nearest.run_num, nearest.chunk_index`,
  );
  // The driver returns one result for each statement, although its type says one.
  return [results].flat().at(-1)!.rows;
}

/** Returns the cosines of the given chunks; a chunk without a vector of the query's model is left out. */
export async function denseScores(
  sql: Sql,
  scope: SearchScope,
  query: QueryVector,
  keys: readonly ChunkKey[],
): Promise<DenseCandidate[]> {
  if (keys.length === 0) return [];
  const values: unknown[] = [...keyColumns(keys), query.modelNum];
  const distance = distanceTo(query, parameterOf(values));
  const space = spaceLiteral(scope.spaceNum);
  const { rows } = await sql.query<DenseCandidate>(
    `select embedding.run_num,
            embedding.chunk_index,
            1 - (${distance}) as cosine
     from unnest($1::int[], $2::int[]) wanted(run_num, chunk_index)
     join embeddings embedding
       on embedding.space_num = ${space}
      and embedding.run_num = wanted.run_num
      and embedding.chunk_index = wanted.chunk_index
      and embedding.model_num = $3`,
    values,
  );
  return rows;
}

/** Deletes at most `limit` embeddings of a hidden run. @returns whether any may be left. */
export async function deleteEmbeddings(
  sql: Sql,
  { spaceNum, runNum, limit }: { readonly spaceNum: number; readonly runNum: number; readonly limit: number },
): Promise<boolean> {
  const space = spaceLiteral(spaceNum);
  const { rowCount } = await sql.query(
    `delete from embeddings
     where space_num = ${space}
       and run_num = $1
       and chunk_index in (
         select chunk_index
         from embeddings
         where space_num = ${space}
           and run_num = $1
         order by chunk_index
         limit $2
       )`,
    [runNum, limit],
  );
  return (rowCount ?? 0) >= limit;
}

/**
 * Deletes the vectors of the run that other models made. A large run has some if the configured model changed
 * while it was indexed.
 */
export async function deleteOtherVectors(
  sql: Sql,
  {
    spaceNum,
    runNum,
    modelNum,
  }: { readonly spaceNum: number; readonly runNum: number; readonly modelNum: number },
): Promise<void> {
  const space = spaceLiteral(spaceNum);
  await sql.query(
    `delete from embeddings
     where space_num = ${space}
       and run_num = $1
       and model_num <> $2`,
    [runNum, modelNum],
  );
}
