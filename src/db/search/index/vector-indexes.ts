/**
 * Builds and drops the vector indexes of large spaces, one HNSW graph for each space and model, without
 * blocking search.
 * @see https://arxiv.org/abs/1603.09320 (HNSW)
 */
import type pg from "pg";
import { VECTOR_INDEX_NUMBERS } from "../../../domain/work/index-upkeep.ts";
import { type Database, type OrganizationRef, queryOnce } from "../../pool.ts";
import { positiveLiteral } from "../literals.ts";

/** The schema of the partitions of `embeddings`, and so of their indexes. The maintenance login owns both. */
const SCHEMA = "vectors";
/** Twice pgvector's default of `ef_construction`, which finds more neighbours and takes a third more time. */
const GRAPH = "m = 16, ef_construction = 128";
/** Memory for a build, which takes many times as long without. A larger setting of the server applies. */
const BUILD_MIB = 512;
const LEAST_BUILD_MIB = 64;
/** The memory of a node of the graph besides its vector: its neighbours, and pgvector's data. */
const NODE_BYTES = 1_024;
/** The SQLSTATE if shared memory runs out: parallel builds need it, and containers often have only 64 MB. */
const NO_SHARED_MEMORY = "53100";
/** The advisory lock that lets one worker build at a time. The number has no meaning. */
const BUILD_LOCK = 7_246_001;
/** The share of deleted vectors from which a graph is built again: vacuum leaves holes for them. */
const DEAD_SHARE = 0.3;
/** An index is dropped when its space has shrunk below this share of the size that is worth one. */
const DROP_SHARE = 0.5;

interface IndexedVectors {
  readonly spaceNum: number;
  readonly modelNum: number;
  readonly dimensions: number;
}

/** Returns at most `limit` random large spaces without an index, or not checked for ten minutes. */
export async function listSpacesToIndex(
  system: pg.Pool,
  limit: number,
): Promise<Array<{ organization: OrganizationRef; spaceNum: number }>> {
  const { rows } = await queryOnce<{ space_num: number; id: string; num: number }>(
    system,
    `with large as (
       select organization_num, space_num
       from space_statistics
       group by organization_num, space_num
       having sum(chunks) * (select coalesce(max(dimensions), 0) from embedding_models) >= $1
     ),
     due as (
       select organization_num, space_num
       from large
       where not exists (
         select
         from vector_indexes
         where vector_indexes.space_num = large.space_num
       )
       union
       select organization_num, space_num
       from vector_indexes
       where checked_at < now() - interval '10 minutes'
     )
     select due.space_num, organization.id, organization.num
     from due
     join organizations organization on organization.num = due.organization_num
     order by random()
     limit $2`,
    [VECTOR_INDEX_NUMBERS, limit],
  );
  return rows.map(({ space_num, id, num }) => ({ organization: { id, num }, spaceNum: space_num }));
}

const indexName = ({ spaceNum, modelNum }: Pick<IndexedVectors, "spaceNum" | "modelNum">): string =>
  `embeddings_hnsw_${positiveLiteral(spaceNum)}_${positiveLiteral(modelNum)}`;

interface Vectors extends IndexedVectors {
  readonly rows: number;
  readonly lastRun: number;
  /** The rows at the last build; null if there is no index. */
  readonly builtRows: number | null;
  /** The rows of runs that are newer than the last build. */
  readonly addedRows: number;
}

/** Counts the vectors of a space for each model, and reads what its index was built from. */
async function readVectors(maintenance: pg.Pool, spaceNum: number): Promise<Vectors[]> {
  const space = positiveLiteral(spaceNum);
  const { rows } = await queryOnce<{
    model_num: number;
    dimensions: number;
    rows: number;
    last_run: number;
    built_rows: number | null;
    added_rows: number;
  }>(
    maintenance,
    `select model.num as model_num,
            model.dimensions,
            coalesce(counted.rows, 0)::int as rows,
            coalesce(counted.last_run, 0) as last_run,
            built.built_rows,
            coalesce(counted.added, 0)::int as added_rows
     from embedding_models model
     left join vector_indexes built
       on built.space_num = ${space}
      and built.model_num = model.num
     left join lateral (
       select count(*) as rows,
              max(embedding.run_num) as last_run,
              count(*) filter (where embedding.run_num > built.built_run_num) as added
       from embeddings embedding
       where embedding.space_num = ${space}
         and embedding.model_num = model.num
     ) counted on true`,
  );
  return rows.map((row) => ({
    spaceNum,
    modelNum: row.model_num,
    dimensions: row.dimensions,
    rows: row.rows,
    lastRun: row.last_run,
    builtRows: row.built_rows,
    addedRows: row.added_rows,
  }));
}

type Action = "build" | "rebuild" | "drop" | "keep";

function actionFor({ rows, dimensions, builtRows, addedRows }: Vectors): Action {
  const numbers = rows * dimensions;
  if (builtRows === null) return numbers >= VECTOR_INDEX_NUMBERS ? "build" : "keep";
  if (numbers < VECTOR_INDEX_NUMBERS * DROP_SHARE) return "drop";
  return builtRows + addedRows - rows > builtRows * DEAD_SHARE ? "rebuild" : "keep";
}

/**
 * Builds, rebuilds or drops the vector indexes of a space as its size demands. Takes no lock that a search or
 * a publish would wait for. Does nothing while another worker builds one.
 * @returns how many indexes were changed.
 */
export async function updateVectorIndexes(
  { maintenance }: Pick<Database, "maintenance">,
  organizationNum: number,
  spaceNum: number,
): Promise<number> {
  const client = await maintenance.connect();
  try {
    const { rows } = await client.query<{ is_locked: boolean }>(
      "select pg_try_advisory_lock($1) as is_locked",
      [BUILD_LOCK],
    );
    if (!rows[0]!.is_locked) return 0;
    let changed = 0;
    for (const vectors of await readVectors(maintenance, spaceNum)) {
      const action = actionFor(vectors);
      if (action === "drop") await drop(client, vectors);
      else if (action !== "keep") await build(client, organizationNum, vectors);
      if (action !== "keep") changed++;
    }
    await client.query(
      `update vector_indexes
       set checked_at = now()
       where space_num = $1`,
      [spaceNum],
    );
    // The server may take a moment to end the session, and the next space needs the lock at once.
    await client.query("select pg_advisory_unlock($1)", [BUILD_LOCK]);
    return changed;
  } finally {
    // Ends the session, and with it the lock and the settings.
    client.release(true);
  }
}

async function drop(client: pg.PoolClient, vectors: IndexedVectors): Promise<void> {
  await client.query(
    `delete from vector_indexes
     where space_num = $1
       and model_num = $2`,
    [vectors.spaceNum, vectors.modelNum],
  );
  await client.query(`drop index concurrently if exists ${SCHEMA}.${indexName(vectors)}`);
}

async function build(client: pg.PoolClient, organizationNum: number, vectors: Vectors): Promise<void> {
  await setBuildMemory(client, vectors);
  try {
    await writeGraph(client, vectors);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === NO_SHARED_MEMORY)) throw error;
    await client.query("set max_parallel_maintenance_workers = 0");
    await writeGraph(client, vectors);
  }
  await client.query(
    `insert into vector_indexes (organization_num, space_num, model_num, built_rows, built_run_num)
     values ($1, $2, $3, $4, $5)
     on conflict (space_num, model_num) do update
     set built_rows = excluded.built_rows,
         built_run_num = excluded.built_run_num`,
    [organizationNum, vectors.spaceNum, vectors.modelNum, vectors.rows, vectors.lastRun],
  );
}

/** Allows the graph's memory, up to {@link BUILD_MIB} or a larger `maintenance_work_mem` of the server. */
async function setBuildMemory(client: pg.PoolClient, { rows, dimensions }: Vectors): Promise<void> {
  const needed = Math.max(LEAST_BUILD_MIB, Math.ceil((rows * (2 * dimensions + NODE_BYTES)) / 1_048_576));
  await client.query(
    `select set_config(
              'maintenance_work_mem',
              least($1::bigint * 1024, greatest($2::bigint * 1024, reset_val::bigint))::text,
              false
            )
     from pg_settings
     where name = 'maintenance_work_mem'`,
    [needed, BUILD_MIB],
  );
}

/** Builds the graph, after dropping what a build that did not end has left. */
async function writeGraph(client: pg.PoolClient, vectors: Vectors): Promise<void> {
  const { spaceNum, modelNum, dimensions } = vectors;
  const name = indexName(vectors);
  const space = positiveLiteral(spaceNum);
  if (vectors.builtRows !== null) {
    await client.query(`drop index concurrently if exists ${SCHEMA}.${name}_ccnew`);
    await client.query(`reindex index concurrently ${SCHEMA}.${name}`);
    return;
  }
  await client.query(`drop index concurrently if exists ${SCHEMA}.${name}`);
  const { rows } = await client.query<{ name: string }>(
    `select tableoid::regclass::text as name
     from embeddings
     where space_num = ${space}
     limit 1`,
  );
  const partition = rows[0]!.name;
  await client.query(
    `create index concurrently ${name}
     on ${partition}
     using hnsw ((embedding::halfvec(${positiveLiteral(dimensions)})) halfvec_cosine_ops)
     with (${GRAPH})
     where space_num = ${space}
       and model_num = ${positiveLiteral(modelNum)}`,
  );
}
