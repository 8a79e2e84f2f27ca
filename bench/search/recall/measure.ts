/** Measures the recall of the dense side in spaces, against reading every vector. */
import pgvector from "pgvector";
import { inTenant } from "../../../src/db/pool.ts";
import { denseCandidates } from "../../../src/db/search/embeddings.ts";
import { readSearchScope } from "../../../src/db/search/scope.ts";
import type { OwnedDatabase } from "../../../test/support/servers/database.ts";
import { say } from "../../report.ts";
import { medianAnd95 } from "../measure.ts";
import { DIMENSIONS, type FilledSpace, vectorSource } from "./spaces.ts";

/** Hits that a search asks for. */
export const DEPTH = 100;

export interface Filter {
  readonly documentIds: readonly string[] | null;
  readonly folderIds: readonly string[] | null;
}

export const NO_FILTER: Filter = { documentIds: null, folderIds: null };

interface Found {
  readonly recall: number;
  /** The share of the hits that could be found: {@link DEPTH}, or fewer if there are fewer live chunks. */
  readonly hits: number;
  readonly ms: number;
}

/** The cosines of the nearest live chunks, from documents alone: what search should find. */
async function nearest(
  { owner }: OwnedDatabase,
  target: FilledSpace,
  vector: Float32Array,
  filter: Filter,
): Promise<number[]> {
  const { rows } = await owner.query<{ cosine: number }>(
    `select   1 - ((embedding.embedding::halfvec(${DIMENSIONS}) <=> $3) + 0) as cosine
     from     embeddings embedding
     join     documents document on document.published_run_num = embedding.run_num
     where    embedding.space_num = $1
     and      document.space_id = $2
     and      document.deleted_at is null
     and      ($4::uuid[] is null or document.id = any($4))
     and      ($5::uuid[] is null or document.folder_id = any($5))
     order by cosine desc
     limit    ${DEPTH}`,
    [
      target.space.num,
      target.space.id,
      pgvector.toSql(Array.from(vector)),
      filter.documentIds,
      filter.folderIds,
    ],
  );
  return rows.map(({ cosine }) => cosine);
}

/** Searches once, and compares the ten nearest. */
export async function look(
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
  // Equally near chunks count as the same.
  const hit = found.slice(0, wanted).filter(({ cosine }) => cosine >= truth[wanted - 1]! - 1e-6).length;
  return {
    recall: wanted === 0 ? 1 : hit / wanted,
    hits: truth.length === 0 ? 1 : found.length / truth.length,
    ms,
  };
}

export interface Row {
  readonly name: string;
  readonly spaces: readonly FilledSpace[];
  readonly queries: number;
  readonly filter?: (space: FilledSpace) => Filter | Promise<Filter>;
}

/** Searches each space `queries` times, and prints one line of the table. */
export async function measure(
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
    `| ${name} | ${spaces.length} | ${queries} | ${mean.toFixed(4)} | ` +
      `${Math.min(...bySpace).toFixed(4)} | ${hits.toFixed(2)} | ${medianAnd95(times)} |`,
  );
}
