/**
 * Measures the recall of the dense side in spaces of many sizes, with filters and after deletions and new
 * versions; and what a thousand indexes cost a query.
 */
import { availableParallelism, loadavg } from "node:os";
import { Command } from "commander";
import { migrate } from "../../src/db/migrate.ts";
import { updateVectorIndexes } from "../../src/db/search/index/vector-indexes.ts";
import type { OwnedDatabase } from "../../test/support/servers/database.ts";
import { seeded } from "../../test/support/seeded.ts";
import { createOrganization, createSpace } from "../../test/support/stack/search-space.ts";
import { say } from "../report.ts";
import { openThrowaway, throwawayDatabase } from "../throwaway-database.ts";
import { type Filter, measure } from "./recall/measure.ts";
import { measureManyIndexes } from "./recall/planning.ts";
import {
  DIMENSIONS,
  type FilledSpace,
  MODEL,
  deleteShare,
  fill,
  removeVectors,
  reprocessHalf,
  vectorSource,
} from "./recall/spaces.ts";

interface Options {
  readonly largest: string;
  readonly indexed: string;
  readonly database?: string;
}

const SPACES = 204;
/** The sizes of the largest spaces, as shares of the largest; the others have 50 to 800 chunks. */
const LARGE = [1, 0.5, 0.25, 0.12, 0.08, 0.05, 0.03, 0.02, 0.015, 0.01];

/** Chunks of each space. */
function sizes(largest: number): number[] {
  const next = seeded(7);
  return [
    ...LARGE.map((share) => Math.ceil((share * largest) / 10) * 10),
    ...Array.from({ length: SPACES - LARGE.length }, () => Math.round(5 * 16 ** next()) * 10),
  ];
}

async function someDocuments({ owner }: OwnedDatabase, space: FilledSpace, count: number): Promise<Filter> {
  const { rows } = await owner.query<{ id: string }>(
    `select   id
     from     documents
     where    space_id = $1
     and      deleted_at is null
     order by md5(id::text)
     limit    $2`,
    [space.space.id, count],
  );
  return { documentIds: rows.map(({ id }) => id), folderIds: null };
}

async function measureFilters(db: OwnedDatabase, spaces: readonly FilledSpace[]): Promise<void> {
  say(
    "| | spaces | queries each | recall@10 | worst space | hits of those there are, worst query | p50 / " +
      "p95 (ms) |",
  );
  say("|---|---|---|---|---|---|---|");
  const large = spaces.slice(0, LARGE.length);
  const small = spaces.slice(LARGE.length);
  const sizesOfSmall = small.map(({ chunks }) => chunks);
  for (const space of large)
    await measure(db, { name: `${space.chunks} chunks`, spaces: [space], queries: 100 });
  await measure(db, {
    name: `${Math.min(...sizesOfSmall)} to ${Math.max(...sizesOfSmall)} chunks`,
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

async function measureChanges(db: OwnedDatabase, spaces: readonly FilledSpace[]): Promise<void> {
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
      `${SPACES} spaces, ${total} vectors of ${DIMENSIONS} (${MODEL}); ${built} graphs built in ` +
        `${((performance.now() - started) / 1_000).toFixed(0)} s`,
    );
    say(`load ${loadavg()[0]!.toFixed(1)} on ${availableParallelism()} cores\n`);
    await measureFilters(db, spaces);
    await measureChanges(db, spaces);
    await measureManyIndexes(db, spaces, Number(options.indexed));
  } finally {
    await db.close();
    await database.drop();
  }
}

await new Command("bench:recall")
  .description(
    "Recall of the ten nearest against reading every vector, in 204 spaces of 50 chunks to the largest; " +
      "and planning with many indexes.",
  )
  .option("--largest <n>", "chunks of the largest space", "100000")
  .option("--indexed <n>", "further spaces with an index, for planning", "1000")
  .option(
    "--database <url>",
    "a Postgres role that may create databases; without it an embedded server is started",
  )
  .action(main)
  .parseAsync();
