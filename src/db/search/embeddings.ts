/** Finds the nearest chunks of a query among the embeddings of a space. */
import pgvector from "pgvector";
import { VECTOR_INDEX_NUMBERS } from "../../domain/work/index-upkeep.ts";
import type { Sql } from "../pool.ts";
import { integersLiteral, positiveLiteral } from "./literals.ts";
import { type ChunkKey, type ChunkNarrowing, type SearchScope, keyColumns, visibleIn } from "./scope.ts";

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
 * Below this share of a space all vectors are read: most of what the index finds would be filtered out, so
 * that walking it far enough would cost more.
 */
const LEAST_SHARE = 0.3;

/** The index serves searches of much of a large space; narrower ones read their documents' vectors. */
function isIndexed(
  { models, share }: SearchScope,
  { required }: ChunkNarrowing,
  { query, limit }: Nearest,
): boolean {
  const model = models.find((one) => one.num === query.modelNum);
  return (
    model !== undefined &&
    model.hasIndex &&
    share >= LEAST_SHARE &&
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
  const space = positiveLiteral(scope.spaceNum);
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

/** Candidates of the graph for each wanted chunk, in a space of up to `EXPLORED_CHUNKS` chunks. */
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
  const space = positiveLiteral(scope.spaceNum);
  const model = positiveLiteral(query.modelNum);
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
  const space = positiveLiteral(scope.spaceNum);
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
