/** Measures what many indexes on `embeddings` cost the planning of a query, and how many locks it takes. */
import pgvector from "pgvector";
import { inTenant } from "../../../src/db/pool.ts";
import { readSearchScope } from "../../../src/db/search/scope.ts";
import type { OwnedDatabase } from "../../../test/support/servers/database.ts";
import { say } from "../../report.ts";
import { medianAnd95 } from "../measure.ts";
import { DEPTH, NO_FILTER, look } from "./measure.ts";
import { DIMENSIONS, type FilledSpace, vectorSource } from "./spaces.ts";

/** Numbers of further spaces start here. */
const FIRST_FURTHER_SPACE = 1_000_000;
const ROUNDS = 50;

/** Plans the statement that walks a graph, and counts the locks that its transaction holds. */
async function planning(
  db: OwnedDatabase,
  space: FilledSpace,
): Promise<{ ms: number[]; locks: number; indexes: number }> {
  const vector = pgvector.toSql(Array.from(vectorSource(3)()));
  return inTenant(db, space.organization, async (sql) => {
    const scope = await readSearchScope(sql, { space: space.space, filter: NO_FILTER });
    await sql.query("select set_config('enable_seqscan', 'off', true)");
    const planOfNearest = `
      explain (summary, format json)
      select   embedding.run_num
      from     embeddings embedding
      where    embedding.space_num = ${space.space.num}
      and      embedding.model_num = ${scope.models[0]!.num}
      order by embedding.embedding::halfvec(${DIMENSIONS}) <=> '${vector}'::halfvec(${DIMENSIONS})
      limit    ${DEPTH}`;
    const ms: number[] = [];
    for (let at = 0; at < ROUNDS; at++) {
      const { rows } = await sql.query<{ "QUERY PLAN": [{ "Planning Time": number }] }>(planOfNearest);
      ms.push(rows[0]!["QUERY PLAN"][0]["Planning Time"]);
    }
    const { rows } = await sql.query<{ locks: number; indexes: number }>(
      `select count(*)::int as locks,
              (select count(*)::int from pg_class where relname like 'embeddings_hnsw_%') as indexes
       from   pg_locks
       where  pid = pg_backend_pid()
       and    locktype = 'relation'
       and    relation::regclass::text ~ '^embeddings'`,
    );
    return { ms, ...rows[0]! };
  });
}

/** Makes `count` further spaces, each with twenty vectors of `from` and a graph of its own. */
async function addIndexedSpaces({ owner }: OwnedDatabase, from: FilledSpace, count: number): Promise<void> {
  await owner.query(
    `insert into embeddings
     select     organization_num, $2::int + further, run_num, chunk_index, model_num, embedding
     from       embeddings
     cross join generate_series(0, $3::int - 1) further
     where      space_num = $1
     and        run_num in (select distinct run_num from embeddings where space_num = $1 limit 2)`,
    [from.space.num, FIRST_FURTHER_SPACE, count],
  );
  const { rows } = await owner.query<{ num: number; partition: string; model: number }>(
    `select distinct space_num as num, tableoid::regclass::text as partition, model_num as model
     from   embeddings
     where  space_num >= $1`,
    [FIRST_FURTHER_SPACE],
  );
  for (const { num, partition, model } of rows) {
    await owner.query(
      `create index embeddings_hnsw_${num}_${model} on ${partition}
       using  hnsw ((embedding::halfvec(${DIMENSIONS})) halfvec_cosine_ops)
       where  space_num = ${num} and model_num = ${model}`,
    );
  }
}

/** Prints planning and searching of one space before and after `count` further spaces have a graph. */
export async function measureManyIndexes(
  db: OwnedDatabase,
  spaces: readonly FilledSpace[],
  count: number,
): Promise<void> {
  say(
    "\n| graphs in all | planning p50 / p95 (ms) | locks on `embeddings`, its partitions and indexes | " +
      "dense search p50 / p95 (ms) |",
  );
  say("|---|---|---|---|");
  const space = spaces[1]!;
  const row = async (): Promise<void> => {
    const { ms, locks, indexes } = await planning(db, space);
    const draw = vectorSource(11);
    const times: number[] = [];
    for (let at = 0; at < ROUNDS; at++) times.push((await look(db, space, draw(), NO_FILTER)).ms);
    say(`| ${indexes} | ${medianAnd95(ms)} | ${locks} | ${medianAnd95(times)} |`);
  };
  await row();
  await addIndexedSpaces(db, spaces[9]!, count);
  await row();
}
