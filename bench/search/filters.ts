/**
 * Measures what filters on the fields of documents cost a search, asked in turn with the same search without
 * a filter, and which of the nearest chunks they still find.
 */
import { availableParallelism, loadavg } from "node:os";
import { Command } from "commander";
import { migrate } from "../../src/db/migrate.ts";
import { inTenant } from "../../src/db/pool.ts";
import { denseCandidates } from "../../src/db/search/embeddings.ts";
import { updateVectorIndexes } from "../../src/db/search/index/vector-indexes.ts";
import { readSearchScope } from "../../src/db/search/scope.ts";
import type { Condition } from "../../src/domain/requests/conditions.ts";
import { HybridSearch } from "../../src/schema/documents/search.ts";
import { hybridSearch } from "../../test/support/search/hybrid-search.ts";
import { createOrganization, createSpace } from "../../test/support/stack/search-space.ts";
import { percentile, say } from "../report.ts";
import { throwawayDatabase, openThrowaway } from "../throwaway-database.ts";
import { makeCorpus, type MadeQuery } from "./corpus.ts";
import { DIMENSIONS, loadRange, MODEL } from "./load.ts";
import { type Bench, medianAnd95, progress } from "./measure.ts";
import { mergeWhatIsDue } from "./merge-segments.ts";
import { purge } from "./states.ts";

interface Options {
  readonly chunks: string;
  readonly queries: string;
  readonly database?: string;
}

interface Row {
  readonly name: string;
  /** The most that it may cost, as a multiple of the search without a filter. */
  readonly bound: number;
  readonly filters: Readonly<Record<string, unknown>>;
}

/** Hits of which the dense side finds the nearest. */
const DEPTH = 100;
const LEAST_RECALL = 0.98;
const INDEXED_BOUND = 1.3;
const METADATA_BOUND = 2;

/** {@link spreadFields} gives each document a number from 0 to 99. */
const ROWS: readonly Row[] = [1, 10, 90].flatMap((percent): Row[] => [
  { name: `column, ${percent} %`, bound: INDEXED_BOUND, filters: { file_size__lt: percent } },
  {
    name: `doc_metadata, ${percent} %`,
    bound: METADATA_BOUND,
    filters: { "doc_metadata.bucket__lt": percent },
  },
]);

/** Each document's number, as a column and as metadata among other metadata. */
async function spreadFields({ db, target }: Bench): Promise<void> {
  await db.owner.query(
    `update documents
     set    file_size = name::int / 10 % 100,
            metadata = jsonb_build_object(
              'bucket', name::int / 10 % 100,
              'project', 'project ' || name::int % 7,
              'tags', jsonb_build_array('a', 'b', name::int % 5)
            )
     where  space_id = $1`,
    [target.space.id],
  );
  await db.owner.query("vacuum analyze documents");
}

function conditionsOf(filters: Row["filters"], spaceId: string): readonly Condition[] {
  const { filters: conditions } = HybridSearch.parse({ query: "any", space_id: spaceId, filters });
  if (conditions === undefined || conditions === null) throw new Error("the filter was not read");
  return conditions;
}

/**
 * The share of the ten nearest chunks behind the filter that the dense side finds, equally near ones alike.
 */
async function recallOf(bench: Bench, conditions: readonly Condition[]): Promise<number> {
  const filter = { documentIds: null, folderIds: null, conditions };
  let found = 0;
  let wanted = 0;
  for (const { vector } of bench.queries) {
    await inTenant(bench.db, bench.target.organization, async (sql) => {
      const scope = await readSearchScope(sql, { space: bench.target.space, filter });
      const nearest = {
        query: { vector, modelNum: scope.models[0]!.num, dimensions: DIMENSIONS },
        limit: DEPTH,
      };
      const narrowing = { required: null, excluded: [] };
      const exact = await denseCandidates(sql, { ...scope, models: [] }, narrowing, nearest);
      const fast = await denseCandidates(sql, scope, narrowing, nearest);
      const last = exact[9]?.cosine ?? -1;
      wanted += Math.min(10, exact.length);
      found += fast.slice(0, 10).filter(({ cosine }) => cosine >= last).length;
    });
  }
  return found / wanted;
}

async function measure(bench: Bench, { name, bound, filters }: Row): Promise<boolean> {
  const conditions = conditionsOf(filters, bench.target.space.id);
  const numbers = { plain: [] as number[], filtered: [] as number[] };
  const search = async (query: MadeQuery, side: keyof typeof numbers): Promise<void> => {
    const deps = { db: bench.db, queryEmbedding: { model: MODEL, embed: async () => query.vector } };
    const before = performance.now();
    await hybridSearch(deps, bench.target, {
      query: query.text,
      ...(side === "filtered" ? { filters: conditions } : {}),
    });
    numbers[side].push(performance.now() - before);
  };
  for (const [at, query] of bench.queries.entries())
    for (const side of at % 2 === 0 ? (["plain", "filtered"] as const) : (["filtered", "plain"] as const))
      await search(query, side);
  const ratio = percentile(numbers.filtered, 0.5) / percentile(numbers.plain, 0.5);
  const mean = (times: readonly number[]): number => times.reduce((sum, one) => sum + one, 0) / times.length;
  const recall = await recallOf(bench, conditions);
  const isHeld = ratio <= bound && recall >= LEAST_RECALL;
  say(
    `| ${name} | ${medianAnd95(numbers.plain)} | ${medianAnd95(numbers.filtered)} | ${ratio.toFixed(2)} | ` +
      `${(mean(numbers.filtered) / mean(numbers.plain)).toFixed(2)} | ${bound} | ${recall.toFixed(4)} | ` +
      `${isHeld ? "held" : "NOT HELD"} |`,
  );
  return isHeld;
}

async function main(options: Options): Promise<void> {
  const chunks = Number(options.chunks);
  const database = await throwawayDatabase(options.database);
  const db = openThrowaway(database.url, 20);
  try {
    await migrate(db);
    const corpus = makeCorpus(1, DIMENSIONS);
    const target = await createSpace(db, await createOrganization(db));
    const queries = corpus.queries(Number(options.queries), chunks);
    const bench: Bench = { db, corpus, target, queries, numbers: new Map(), headerTerms: 0 };
    const documents = Array.from({ length: Math.ceil(chunks / 10) }, (_, at) => at * 10);
    progress(`loading ${chunks} chunks`);
    await loadRange(bench, target, documents);
    await spreadFields(bench);
    await purge(bench);
    await mergeWhatIsDue(db, target);
    await db.owner.query("analyze");
    progress("building the index of vectors");
    await updateVectorIndexes(db, target.organization.num, target.space.num);
    say(
      `${chunks} chunks in ${documents.length} documents of one space, ${DIMENSIONS} dimensions, ` +
        `${queries.length} questions one at a time; load ${loadavg()[0]!.toFixed(1)} on ` +
        `${availableParallelism()} cores`,
    );
    say(
      "| filter, what it leaves | without, p50 / p95 (ms) | with | ratio of p50 | of means | bound | recall@10 | |",
    );
    say("|---|---|---|---|---|---|---|---|");
    let areHeld = true;
    for (const row of ROWS) areHeld = (await measure(bench, row)) && areHeld;
    if (!areHeld) process.exitCode = 1;
  } finally {
    await db.close();
    await database.drop();
  }
}

await new Command("bench:filters")
  .description("What filters on the fields of documents cost a hybrid search, and their recall.")
  .option("--chunks <n>", "chunks of the space", "100000")
  .option("--queries <n>", "questions of 3 to 10 words", "200")
  .option(
    "--database <url>",
    "a Postgres role that may create databases; without it an embedded server is started",
  )
  .action(main)
  .parseAsync();
