/** Recall of the dense side in spaces of many sizes, whatever was filtered, deleted or published again; and what a thousand indexes cost a query. */
import { availableParallelism, loadavg } from "node:os";
import pgvector from "pgvector";
import { Command } from "commander";
import { migrate } from "../../src/db/migrate.ts";
import { inTenant } from "../../src/db/pool.ts";
import type { OwnedDatabase } from "../../test/support/servers/database.ts";
import { denseCandidates } from "../../src/db/search/embeddings.ts";
import { readSearchScope } from "../../src/db/search/scope.ts";
import { updateVectorIndexes } from "../../src/db/search/index/vector-indexes.ts";
import { createOrganization, createSpace } from "../../test/support/stack/search-space.ts";
import {
  DIMENSIONS,
  type FilledSpace,
  MODEL,
  deleteShare,
  fill,
  random,
  removeVectors,
  reprocessHalf,
  vectorSource,
} from "./recall-spaces.ts";
import { openThrowaway, throwawayDatabase } from "../throwaway-database.ts";

interface Options {
  readonly largest: string;
  readonly indexed: string;
  readonly database?: string;
}

const SPACES = 204;
const DEPTH = 100;
/** Sizes below the largest, as shares of it; the other spaces have 50 to 800 chunks. */
const LARGE = [1, 0.5, 0.25, 0.12, 0.08, 0.05, 0.03, 0.02, 0.015, 0.01];

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const percentile = (times: readonly number[], share: number): string =>
  times.toSorted((one, other) => one - other)[Math.floor(times.length * share)]!.toFixed(1);

function sizes(largest: number): number[] {
  const next = random(7);
  return [
    ...LARGE.map((share) => Math.ceil((share * largest) / 10) * 10),
    ...Array.from({ length: SPACES - LARGE.length }, () => Math.round(5 * 16 ** next()) * 10),
  ];
}

interface Filter {
  readonly documentIds: readonly string[] | null;
  readonly folderIds: readonly string[] | null;
}

const NO_FILTER: Filter = { documentIds: null, folderIds: null };

interface Found {
  readonly recall: number;
  /** Hits of the hundred that were asked for, or of as many as there are. */
  readonly hits: number;
  readonly ms: number;
}

/** The nearest live chunks by plain SQL over documents: what is true, whatever search keeps beside. */
async function nearest(
  { owner }: OwnedDatabase,
  target: FilledSpace,
  vector: Float32Array,
  filter: Filter,
): Promise<number[]> {
  const { rows } = await owner.query<{ cosine: number }>(
    `select 1 - ((e.embedding::halfvec(${DIMENSIONS}) <=> $2) + 0) as cosine from embeddings e join documents d on d.published_run_num = e.run_num
     where e.space_num = ${target.space.num} and d.space_id = $1 and d.deleted_at is null and ($3::uuid[] is null or d.id = any($3)) and ($4::uuid[] is null or d.folder_id = any($4))
     order by cosine desc limit ${DEPTH}`,
    [target.space.id, pgvector.toSql(Array.from(vector)), filter.documentIds, filter.folderIds],
  );
  return rows.map(({ cosine }) => cosine);
}

async function look(
  db: OwnedDatabase,
  target: FilledSpace,
  vector: Float32Array,
  filter: Filter,
): Promise<Found> {
  const truth = await nearest(db, target, vector, filter);
  const started = performance.now();
  const found = await inTenant(db, target.organization, async (sql) => {
    const scope = await readSearchScope(sql, { space: target.space, filter });
    const modelNum = scope.models[0]?.num;
    if (modelNum === undefined) return [];
    return denseCandidates(
      sql,
      scope,
      { required: null, excluded: [] },
      { query: { vector, modelNum, dimensions: DIMENSIONS }, limit: DEPTH },
    );
  });
  const ms = performance.now() - started;
  const wanted = Math.min(10, truth.length);
  // Equally near ones stand for each other.
  const hit = found.slice(0, wanted).filter(({ cosine }) => cosine >= truth[wanted - 1]! - 1e-6).length;
  return {
    recall: wanted === 0 ? 1 : hit / wanted,
    hits: truth.length === 0 ? 1 : found.length / truth.length,
    ms,
  };
}

interface Row {
  readonly name: string;
  readonly spaces: readonly FilledSpace[];
  readonly queries: number;
  readonly filter?: (space: FilledSpace) => Filter | Promise<Filter>;
}

async function measure(
  db: OwnedDatabase,
  { name, spaces, queries, filter = () => NO_FILTER }: Row,
): Promise<void> {
  const draw = vectorSource(99);
  const bySpace: number[] = [];
  const all: Found[] = [];
  for (const space of spaces) {
    const narrowed = await filter(space);
    const found: Found[] = [];
    for (let query = 0; query < queries; query++) found.push(await look(db, space, draw(), narrowed));
    bySpace.push(found.reduce((sum, one) => sum + one.recall, 0) / found.length);
    all.push(...found);
  }
  const hits = Math.min(...all.map((one) => one.hits));
  const times = all.map((one) => one.ms);
  const mean = bySpace.reduce((sum, recall) => sum + recall, 0) / bySpace.length;
  say(
    `| ${name} | ${spaces.length} | ${queries} | ${mean.toFixed(4)} | ${Math.min(...bySpace).toFixed(4)} | ${hits.toFixed(2)} | ${percentile(times, 0.5)} / ${percentile(times, 0.95)} |`,
  );
}

async function someDocuments({ owner }: OwnedDatabase, space: FilledSpace, count: number): Promise<Filter> {
  const { rows } = await owner.query<{ id: string }>(
    "select id from documents where space_id = $1 and deleted_at is null order by md5(id::text) limit $2",
    [space.space.id, count],
  );
  return { documentIds: rows.map(({ id }) => id), folderIds: null };
}

async function recalls(db: OwnedDatabase, spaces: readonly FilledSpace[]): Promise<void> {
  say(
    "| | spaces | queries each | recall@10 | worst space | hits of those there are, worst query | p50 / p95 (ms) |",
  );
  say("|---|---|---|---|---|---|---|");
  const [large, small] = [spaces.slice(0, LARGE.length), spaces.slice(LARGE.length)];
  for (const space of large)
    await measure(db, { name: `${space.chunks} chunks`, spaces: [space], queries: 100 });
  await measure(db, {
    name: `${Math.min(...small.map((space) => space.chunks))} to ${Math.max(...small.map((space) => space.chunks))} chunks`,
    spaces: small,
    queries: 5,
  });
  for (const at of [0, 1] as const) {
    const part = at === 0 ? "half of the documents" : "one of twenty documents";
    await measure(db, {
      name: `all, \`folder_ids\`: ${part}`,
      spaces,
      queries: 3,
      filter: (space) => ({ documentIds: null, folderIds: [space.folders[at]] }),
    });
  }
  for (const documents of [3, 500])
    await measure(db, {
      name: `all, \`document_ids\`: ${documents}`,
      spaces,
      queries: 3,
      filter: (space) => someDocuments(db, space, documents),
    });
}

async function changes(db: OwnedDatabase, spaces: readonly FilledSpace[]): Promise<void> {
  const draw = vectorSource(5);
  const gone = new Map<FilledSpace, number[]>();
  const name = (space: FilledSpace, what: string): string => `${space.chunks} chunks, ${what}`;
  const after = async (space: FilledSpace, what: string): Promise<void> => {
    await measure(db, { name: name(space, what), spaces: [space], queries: 50 });
    await removeVectors(db, space, gone.get(space)!);
    await measure(db, {
      name: name(space, `${what}, old vectors taken out, not vacuumed`),
      spaces: [space],
      queries: 50,
    });
  };
  for (const at of [1, 8]) {
    gone.set(spaces[at]!, await reprocessHalf(db, spaces[at]!, draw));
    await after(spaces[at]!, "half published again");
  }
  for (const at of [0, 2, 9]) {
    gone.set(spaces[at]!, await deleteShare(db, spaces[at]!, 0.9));
    await after(spaces[at]!, "nine of ten documents deleted");
  }
}

/** Plans of the statement that walks a graph, and the locks that its transaction holds. */
async function planning(
  db: OwnedDatabase,
  space: FilledSpace,
): Promise<{ ms: number[]; locks: number; indexes: number }> {
  const vector = pgvector.toSql(Array.from(vectorSource(3)()));
  return inTenant(db, space.organization, async (sql) => {
    const scope = await readSearchScope(sql, { space: space.space, filter: NO_FILTER });
    await sql.query("select set_config('enable_seqscan', 'off', true)");
    const text = `explain (summary, format json) select e.run_num from embeddings e where e.space_num = ${space.space.num} and e.model_num = ${scope.models[0]!.num}
      order by e.embedding::halfvec(${DIMENSIONS}) <=> '${vector}'::halfvec(${DIMENSIONS}) limit ${DEPTH}`;
    const ms: number[] = [];
    for (let at = 0; at < 50; at++) {
      const { rows } = await sql.query<{ "QUERY PLAN": [{ "Planning Time": number }] }>(text);
      ms.push(rows[0]!["QUERY PLAN"][0]["Planning Time"]);
    }
    const { rows } = await sql.query<{ locks: number; indexes: number }>(
      `select count(*)::int as locks, (select count(*)::int from pg_class where relname like 'embeddings_hnsw_%') as indexes from pg_locks
       where pid = pg_backend_pid() and locktype = 'relation' and (relation::regclass::text ~ '^embeddings')`,
    );
    return { ms, ...rows[0]! };
  });
}

/** Gives so many more spaces twenty vectors and a graph each. */
async function addIndexedSpaces({ owner }: OwnedDatabase, from: FilledSpace, count: number): Promise<void> {
  const first = 1_000_000;
  const copied =
    "select organization_num, $2::int + n, run_num, chunk_index, model_num, embedding from embeddings cross join generate_series(0, $3::int - 1) n";
  await owner.query(
    `insert into embeddings ${copied} where space_num = $1 and run_num in (select distinct run_num from embeddings where space_num = $1 limit 2)`,
    [from.space.num, first, count],
  );
  const { rows } = await owner.query<{ num: number; partition: string; model: number }>(
    "select distinct space_num as num, tableoid::regclass::text as partition, model_num as model from embeddings where space_num >= $1",
    [first],
  );
  for (const { num, partition, model } of rows) {
    await owner.query(
      `create index embeddings_hnsw_${num}_${model} on ${partition} using hnsw ((embedding::halfvec(${DIMENSIONS})) halfvec_cosine_ops) where space_num = ${num} and model_num = ${model}`,
    );
  }
}

async function manyIndexes(db: OwnedDatabase, spaces: readonly FilledSpace[], count: number): Promise<void> {
  say(
    "\n| graphs in all | planning p50 / p95 (ms) | locks on `embeddings`, its partitions and indexes | dense search p50 / p95 (ms) |",
  );
  say("|---|---|---|---|");
  const space = spaces[1]!;
  const row = async (): Promise<void> => {
    const { ms, locks, indexes } = await planning(db, space);
    const draw = vectorSource(11);
    const times: number[] = [];
    for (let at = 0; at < 50; at++) times.push((await look(db, space, draw(), NO_FILTER)).ms);
    say(
      `| ${indexes} | ${percentile(ms, 0.5)} / ${percentile(ms, 0.95)} | ${locks} | ${percentile(times, 0.5)} / ${percentile(times, 0.95)} |`,
    );
  };
  await row();
  await addIndexedSpaces(db, spaces[9]!, count);
  await row();
}

async function main(options: Options): Promise<void> {
  const database = await throwawayDatabase(options.database);
  const db = openThrowaway(database.url, 4);
  try {
    await migrate(db);
    const organization = await createOrganization(db);
    const draw = vectorSource(1);
    const spaces: FilledSpace[] = [];
    for (const chunks of sizes(Number(options.largest)))
      spaces.push(await fill(db, await createSpace(db, organization), chunks, draw));
    await db.owner.query("vacuum analyze");
    const started = performance.now();
    let built = 0;
    for (const space of spaces) built += await updateVectorIndexes(db, organization.num, space.space.num);
    const total = spaces.reduce((sum, space) => sum + space.chunks, 0);
    say(
      `${SPACES} spaces, ${total} vectors of ${DIMENSIONS} (${MODEL}); ${built} graphs built in ${((performance.now() - started) / 1_000).toFixed(0)} s`,
    );
    say(`load ${loadavg()[0]!.toFixed(1)} on ${availableParallelism()} cores\n`);
    await recalls(db, spaces);
    await changes(db, spaces);
    await manyIndexes(db, spaces, Number(options.indexed));
  } finally {
    await db.close();
    await database.drop();
  }
}

await new Command("bench:recall")
  .description(
    "Recall of the ten nearest against reading every vector, in 204 spaces of 50 chunks to the largest; and planning with many indexes.",
  )
  .option("--largest <n>", "chunks of the largest space", "100000")
  .option("--indexed <n>", "further spaces with an index, for planning", "1000")
  .option(
    "--database <url>",
    "a Postgres role that may create databases; without it an embedded server is started",
  )
  .action(main)
  .parseAsync();
