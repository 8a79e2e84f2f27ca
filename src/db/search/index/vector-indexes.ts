/** The only SQL on the indexes of large spaces' vectors: one HNSW graph a space and model, built and dropped while search goes on. */
import type pg from "pg";
import { VECTOR_INDEX_NUMBERS } from "../../../domain/work/index-upkeep.ts";
import { type Database, type OrganizationKey, queryOnce } from "../../pool.ts";
import { spaceLiteral } from "../scope.ts";

/** Of the partitions of `embeddings`: maintenance owns them and may create in it. An index lies where its table does. */
const SCHEMA = "vectors";
/** pgvector's parameters; twice the default of construction costs a third more time and finds more. */
const GRAPH = "m = 16, ef_construction = 128";
/** A graph that does not fit into memory while it is built takes many times as long; what the server allows beyond this, its own setting says. */
const BUILD_MIB = 512;
const LEAST_BUILD_MIB = 64;
/** Of a node while the graph is built, beside its vector: its neighbours, and what pgvector keeps of it. */
const NODE_BYTES = 1_024;
/** Several processes build in memory that they share, of which containers often have 64 MB. */
const NO_SHARED_MEMORY = "53100";
/** Any number will do that nothing else uses: builds go one at a time over all workers. */
const BUILD_LOCK = 7_246_001;
/** Deleted vectors stay in the graph until vacuum takes them out, and leave holes; beyond this share it is built anew. */
const DEAD_SHARE = 0.3;
/** Below half of what was worth an index, one is not kept. */
const DROP_SHARE = 0.5;

interface IndexedVectors {
  readonly spaceNum: number;
  readonly modelNum: number;
  readonly dimensions: number;
}

/** Spaces that are large enough for an index and have none, or whose index was not looked at for ten minutes; at most `limit`. */
export async function listSpacesToIndex(
  system: pg.Pool,
  limit: number,
): Promise<Array<{ organization: OrganizationKey; spaceNum: number }>> {
  const { rows } = await queryOnce<{ space_num: number; id: string; num: number }>(
    system,
    `with large as (
       select organization_num, space_num from space_statistics group by organization_num, space_num
       having sum(chunks) * (select coalesce(max(dimensions), 0) from embedding_models) >= $1),
     due as (
       select organization_num, space_num from large l where not exists (select from vector_indexes v where v.space_num = l.space_num)
       union select organization_num, space_num from vector_indexes where checked_at < now() - interval '10 minutes')
     select due.space_num, o.id, o.num from due join organizations o on o.num = due.organization_num order by random() limit $2`,
    [VECTOR_INDEX_NUMBERS, limit],
  );
  return rows.map(({ space_num, id, num }) => ({ organization: { id, num }, spaceNum: space_num }));
}

const nameOf = ({ spaceNum, modelNum }: Pick<IndexedVectors, "spaceNum" | "modelNum">): string =>
  `embeddings_hnsw_${spaceLiteral(spaceNum)}_${spaceLiteral(modelNum)}`;

interface Vectors extends IndexedVectors {
  readonly rows: number;
  readonly lastRun: number;
  readonly builtRows: number | null;
  readonly addedRows: number;
}

/** The vectors of a space by model, and what its indexes were built from. */
async function readVectors(maintenance: pg.Pool, spaceNum: number): Promise<Vectors[]> {
  const space = spaceLiteral(spaceNum);
  const { rows } = await queryOnce<{
    model_num: number;
    dimensions: number;
    rows: number;
    last_run: number;
    built_rows: number | null;
    added_rows: number;
  }>(
    maintenance,
    `select m.num as model_num, m.dimensions, coalesce(c.rows, 0)::int as rows, coalesce(c.last_run, 0) as last_run, v.built_rows, coalesce(c.added, 0)::int as added_rows
     from embedding_models m left join vector_indexes v on v.space_num = ${space} and v.model_num = m.num
     left join lateral (select count(*) as rows, max(e.run_num) as last_run, count(*) filter (where e.run_num > v.built_run_num) as added
                        from embeddings e where e.space_num = ${space} and e.model_num = m.num) c on true`,
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
 * Builds, builds anew or drops the indexes of a space, without a lock that a search or a publish would wait for. Does nothing
 * while another worker builds one. @returns how many were changed.
 */
export async function tendVectorIndexes(
  { maintenance }: Pick<Database, "maintenance">,
  organizationNum: number,
  spaceNum: number,
): Promise<number> {
  const client = await maintenance.connect();
  try {
    const { rows } = await client.query<{ is_mine: boolean }>("select pg_try_advisory_lock($1) as is_mine", [
      BUILD_LOCK,
    ]);
    if (!rows[0]!.is_mine) return 0;
    let changed = 0;
    for (const vectors of await readVectors(maintenance, spaceNum)) {
      const action = actionFor(vectors);
      if (action === "drop") await drop(client, vectors);
      else if (action !== "keep") await build(client, organizationNum, vectors);
      if (action !== "keep") changed++;
    }
    await client.query("update vector_indexes set checked_at = now() where space_num = $1", [spaceNum]);
    // The server may take a moment to end the session, and the next space is due at once.
    await client.query("select pg_advisory_unlock($1)", [BUILD_LOCK]);
    return changed;
  } finally {
    // The lock and the settings are the session's.
    client.release(true);
  }
}

async function drop(client: pg.PoolClient, vectors: IndexedVectors): Promise<void> {
  await client.query("delete from vector_indexes where space_num = $1 and model_num = $2", [
    vectors.spaceNum,
    vectors.modelNum,
  ]);
  await client.query(`drop index concurrently if exists ${SCHEMA}.${nameOf(vectors)}`);
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
    `insert into vector_indexes (organization_num, space_num, model_num, built_rows, built_run_num) values ($1, $2, $3, $4, $5)
     on conflict (space_num, model_num) do update set built_rows = excluded.built_rows, built_run_num = excluded.built_run_num`,
    [organizationNum, vectors.spaceNum, vectors.modelNum, vectors.rows, vectors.lastRun],
  );
}

/** As much as the graph needs, and no more than the server's own `maintenance_work_mem` where that is larger than {@link BUILD_MIB}. */
async function setBuildMemory(client: pg.PoolClient, { rows, dimensions }: Vectors): Promise<void> {
  const needed = Math.max(LEAST_BUILD_MIB, Math.ceil((rows * (2 * dimensions + NODE_BYTES)) / 1_048_576));
  await client.query(
    `select set_config('maintenance_work_mem', least($1::bigint * 1024, greatest($2::bigint * 1024, reset_val::bigint))::text, false)
     from pg_settings where name = 'maintenance_work_mem'`,
    [needed, BUILD_MIB],
  );
}

/** What a build left behind that did not end is dropped first. */
async function writeGraph(client: pg.PoolClient, vectors: Vectors): Promise<void> {
  const { spaceNum, modelNum, dimensions } = vectors;
  const name = nameOf(vectors);
  if (vectors.builtRows !== null) {
    await client.query(`drop index concurrently if exists ${SCHEMA}.${name}_ccnew`);
    await client.query(`reindex index concurrently ${SCHEMA}.${name}`);
    return;
  }
  await client.query(`drop index concurrently if exists ${SCHEMA}.${name}`);
  const { rows } = await client.query<{ name: string }>(
    `select tableoid::regclass::text as name from embeddings where space_num = ${spaceLiteral(spaceNum)} limit 1`,
  );
  await client.query(
    `create index concurrently ${name} on ${rows[0]!.name} using hnsw ((embedding::halfvec(${spaceLiteral(dimensions)})) halfvec_cosine_ops) with (${GRAPH})
     where space_num = ${spaceLiteral(spaceNum)} and model_num = ${spaceLiteral(modelNum)}`,
  );
}
