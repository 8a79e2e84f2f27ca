/** The only SQL on the live embeddings: written from the cache, read as nearest neighbours. */
import pgvector from "pgvector";
import { VECTOR_INDEX_NUMBERS } from "../../domain/work/index-upkeep.ts";
import type { OrganizationKey, Sql } from "../pool.ts";
import {
  type ChunkKey,
  type ChunkNarrowing,
  type SearchScope,
  integersLiteral,
  keyColumns,
  seenIn,
  spaceLiteral,
} from "./scope.ts";

interface EmbeddingsToWrite {
  readonly organization: OrganizationKey;
  readonly spaceNum: number;
  readonly modelNum: number;
  readonly runNums: readonly number[];
  /** Only these of each run, both ends included. */
  readonly chunks?: { readonly from: number; readonly to: number };
}

/** Writes the search entry of every chunk whose text has a cached vector of the model. Writing one again changes nothing. */
export async function insertEmbeddingsFromCache(
  sql: Sql,
  { organization, spaceNum, modelNum, runNums, chunks }: EmbeddingsToWrite,
): Promise<void> {
  await sql.query({
    name: "search.insert-embeddings",
    text: `insert into embeddings (organization_num, space_num, run_num, chunk_index, model_num, embedding)
           select $1, $2, c.run_num, c.chunk_index, $3, e.embedding from chunks c
           join embedding_cache e on e.organization_id = $4 and e.model_num = $3 and e.content_hash = c.content_hash
           where c.organization_id = $4 and c.run_num = any($5::int[]) and c.chunk_index between $6 and $7 on conflict do nothing`,
    values: [
      organization.num,
      spaceNum,
      modelNum,
      organization.id,
      runNums,
      chunks?.from ?? 0,
      chunks?.to ?? 2_147_483_647,
    ],
  });
}

export interface QueryVector {
  readonly vector: Float32Array;
  readonly modelNum: number;
  readonly dimensions: number;
}

export interface DenseCandidate extends ChunkKey {
  /** -1 to 1. */
  readonly cosine: number;
}

/**
 * @param value makes SQL of the vector, as a parameter or in the text: it is made of numbers alone.
 * @throws RangeError where the vector is not of the model's size.
 */
function distanceTo({ vector, dimensions }: QueryVector, value: (vector: string) => string): string {
  if (!Number.isInteger(dimensions) || vector.length !== dimensions)
    throw new RangeError(`a query vector has ${vector.length} dimensions, not ${dimensions}`);
  return `e.embedding::halfvec(${dimensions}) <=> ${value(pgvector.toSql(Array.from(vector))!)}::halfvec(${dimensions})`;
}

/** Appends to the parameters. */
const parameterOf =
  (values: unknown[]) =>
  (value: unknown): string =>
    `$${values.push(value)}`;

interface Nearest {
  readonly query: QueryVector;
  readonly limit: number;
}

/**
 * The `limit` nearest chunks, nearest first; equal ones by run and index. Exact, but for spaces so large that they have an index: there it
 * misses about one of a hundred. Never fewer than there are.
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
  // Vectors that are deleted or hidden take places in the graph: where it gave too few, all are read.
  await sql.query(
    "select set_config('enable_seqscan', 'on', true), set_config('enable_bitmapscan', 'on', true)",
  );
  return scanAll(sql, scope, narrowing, nearest);
}

/** An index is for searches of a whole large space: what documents or phrases narrow is read as it is. */
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

/** Reads every vector of the scope. The `+ 0` keeps the planner from any index. */
async function scanAll(
  sql: Sql,
  scope: SearchScope,
  narrowing: ChunkNarrowing,
  { query, limit }: Nearest,
): Promise<DenseCandidate[]> {
  const values: unknown[] = [];
  const distance = distanceTo(query, parameterOf(values));
  const seen = seenIn(scope, narrowing, "e", parameterOf(values));
  const { rows } = await sql.query<DenseCandidate>(
    `select n.run_num, n.chunk_index, 1 - n.distance as cosine from (
       select e.run_num, e.chunk_index, (${distance}) + 0 as distance from embeddings e
       where e.space_num = ${spaceLiteral(scope.spaceNum)} and e.model_num = $${values.push(query.modelNum)}${seen}
       order by distance, e.run_num, e.chunk_index limit $${values.push(limit)}) n
     order by n.distance, n.run_num, n.chunk_index`,
    values,
  );
  return rows;
}

/** How many candidates of the graph are looked at for each that is wanted; beyond so many chunks more, by the root. pgvector looks at a thousand at most. */
const EXPLORED = 4;
const EXPLORED_CHUNKS = 100_000;
const MAX_EXPLORED = 1_000;

function explored({ models }: SearchScope, { query, limit }: Nearest): number {
  const chunks = models.find((model) => model.num === query.modelNum)?.chunks ?? 0;
  return Math.min(
    MAX_EXPLORED,
    Math.round(limit * EXPLORED * Math.sqrt(Math.max(1, chunks / EXPLORED_CHUNKS))),
  );
}

/**
 * Walks the space's own graph; literal numbers of space and model let the planner see that the index is for them. For the rest of the
 * transaction it prefers indexes: what a search reads behind this is a few rows by their keys. All in one round trip, so without parameters.
 */
async function scanIndex(
  sql: Sql,
  scope: SearchScope,
  narrowing: ChunkNarrowing,
  nearest: Nearest,
): Promise<DenseCandidate[]> {
  const { query, limit } = nearest;
  const distance = distanceTo(query, (vector) => `'${vector}'`);
  const seen = seenIn(scope, narrowing, "e", integersLiteral);
  const results = await sql.query<DenseCandidate>(
    `select set_config('hnsw.ef_search', '${explored(scope, nearest)}', true), set_config('hnsw.iterative_scan', 'relaxed_order', true),
       set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true);
     select n.run_num, n.chunk_index, 1 - n.distance as cosine from (
       select e.run_num, e.chunk_index, ${distance} as distance from embeddings e
       where e.space_num = ${spaceLiteral(scope.spaceNum)} and e.model_num = ${spaceLiteral(query.modelNum)}${seen}
       order by distance limit ${Math.trunc(limit)}) n
     order by n.distance, n.run_num, n.chunk_index`,
  );
  // One of each statement, whatever the type says.
  return [results].flat().at(-1)!.rows;
}

/** Cosines of given chunks; a chunk without a vector of the query's model is left out. */
export async function denseScores(
  sql: Sql,
  scope: SearchScope,
  query: QueryVector,
  keys: readonly ChunkKey[],
): Promise<DenseCandidate[]> {
  if (keys.length === 0) return [];
  const values: unknown[] = [...keyColumns(keys), query.modelNum];
  const { rows } = await sql.query<DenseCandidate>(
    `select e.run_num, e.chunk_index, 1 - (${distanceTo(query, parameterOf(values))}) as cosine
     from unnest($1::int[], $2::int[]) c(run_num, chunk_index)
     join embeddings e on e.space_num = ${spaceLiteral(scope.spaceNum)} and e.run_num = c.run_num and e.chunk_index = c.chunk_index and e.model_num = $3`,
    values,
  );
  return rows;
}

/** Deletes at most `limit` embeddings of a run that is hidden. @returns whether any may be left. */
export async function deleteEmbeddings(
  sql: Sql,
  { spaceNum, runNum, limit }: { readonly spaceNum: number; readonly runNum: number; readonly limit: number },
): Promise<boolean> {
  const space = spaceLiteral(spaceNum);
  const { rowCount } = await sql.query(
    `delete from embeddings where space_num = ${space} and run_num = $1
     and chunk_index in (select chunk_index from embeddings where space_num = ${space} and run_num = $1 order by chunk_index limit $2)`,
    [runNum, limit],
  );
  return (rowCount ?? 0) >= limit;
}

/** Deletes the vectors of other models that a large run was indexed with before the configuration changed: at most a document's. */
export async function deleteOtherVectors(
  sql: Sql,
  {
    spaceNum,
    runNum,
    modelNum,
  }: { readonly spaceNum: number; readonly runNum: number; readonly modelNum: number },
): Promise<void> {
  await sql.query(
    `delete from embeddings where space_num = ${spaceLiteral(spaceNum)} and run_num = $1 and model_num <> $2`,
    [runNum, modelNum],
  );
}
