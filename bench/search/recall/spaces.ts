/**
 * Fills spaces for the recall bench with documents of ten vectors, distributed as the vectors of text are,
 * and leaves them as publishing again and deleting leave them.
 */
import pgvector from "pgvector";
import { embeddingModelNum } from "../../../src/db/runs/chunks.ts";
import { type Sql, inTenant } from "../../../src/db/pool.ts";
import type { OwnedDatabase } from "../../../test/support/servers/database.ts";
import { hideRun } from "../../../src/db/search/hidden.ts";
import { addStatistics } from "../../../test/support/stack/statistics.ts";
import { newId } from "../../../src/domain/ids.ts";
import { seeded } from "../../../test/support/seeded.ts";
import { type SearchSpace, createFolder } from "../../../test/support/stack/search-space.ts";
import { normal } from "../normal.ts";

export const DIMENSIONS = 384;
export const MODEL = "made-up";
const CHUNKS_A_DOCUMENT = 10;
const DOCUMENTS_AT_ONCE = 100;
/** Vectors of text vary in far fewer directions than they have dimensions. */
const LATENT = 24;
const CENTERS = 200;
const NOISE = 0.15;
/** Added to the number of a run for its next version: numbers of runs are unique over all spaces. */
const NEXT_RUN = 10_000_000;

/**
 * Draws vectors around {@link CENTERS} centres in a subspace of {@link LATENT} directions, with a little
 * noise.
 */
export function vectorSource(seed: number): () => Float32Array {
  const fixed = seeded(20_261);
  const basis = Array.from({ length: LATENT }, () =>
    Float32Array.from({ length: DIMENSIONS }, () => normal(fixed) / Math.sqrt(DIMENSIONS)),
  );
  const centers = Array.from({ length: CENTERS }, () =>
    Float32Array.from({ length: LATENT }, () => normal(fixed)),
  );
  const next = seeded(seed);
  return () => {
    const vector = new Float32Array(DIMENSIONS);
    const center = centers[Math.floor(next() * CENTERS)]!;
    for (let direction = 0; direction < LATENT; direction++) {
      const along = center[direction]! + normal(next);
      const axis = basis[direction]!;
      for (let at = 0; at < DIMENSIONS; at++) vector[at]! += along * axis[at]!;
    }
    for (let at = 0; at < DIMENSIONS; at++)
      vector[at]! += (NOISE * normal(next) * Math.sqrt(LATENT)) / Math.sqrt(DIMENSIONS);
    return vector.map((value) => Math.round(value * 10_000) / 10_000);
  };
}

export interface FilledSpace extends SearchSpace {
  readonly chunks: number;
  /** Half of the documents are in the first folder, one of twenty in the second. */
  readonly folders: readonly [string, string];
}

interface Runs {
  readonly id: string;
  readonly run: number;
}

/** Publishes documents that together have `chunks` chunks, rounded up to whole documents. */
export async function fill(
  db: OwnedDatabase,
  target: SearchSpace,
  chunks: number,
  draw: () => Float32Array,
): Promise<FilledSpace> {
  const folders = [await createFolder(db, target, "half"), await createFolder(db, target, "few")] as const;
  const documents = Math.ceil(chunks / CHUNKS_A_DOCUMENT);
  for (let from = 0; from < documents; from += DOCUMENTS_AT_ONCE) {
    const ids = Array.from({ length: Math.min(DOCUMENTS_AT_ONCE, documents - from) }, (_, at) => ({
      id: newId(),
      folder: folderOf(from + at, folders),
    }));
    await inTenant(db, target.organization, async (sql) => {
      const { rows } = await sql.query<Runs>(
        `insert into documents
           (id, organization_id, space_id, space_num, folder_id, name, file_type, file_size, content_type,
            created_by)
         select made.id, $1, $2, $3, made.folder, 'made up', 'TEXT', 1, 'text/plain', $4
         from   unnest($5::uuid[], $6::uuid[]) made(id, folder)
         returning id, num as run`,
        [
          target.organization.id,
          target.space.id,
          target.space.num,
          target.userId,
          ids.map(({ id }) => id),
          ids.map(({ folder }) => folder),
        ],
      );
      await sql.query(
        `update documents
         set    published_run_num = num,
                published_version = 1
         where  id = any($1::uuid[])`,
        [ids.map(({ id }) => id)],
      );
      await insertVectors(
        sql,
        target,
        rows.map(({ run }) => run),
        draw,
      );
      await addToStatistics(sql, target, rows.length);
    });
  }
  return { ...target, chunks, folders };
}

function folderOf(document: number, folders: readonly [string, string]): string | null {
  return document % 20 === 1 ? folders[1] : document % 2 === 0 ? folders[0] : null;
}

/** `documents` is negative if they are taken away. */
async function addToStatistics(
  sql: Sql,
  { organization, space }: SearchSpace,
  documents: number,
): Promise<void> {
  const chunks = documents * CHUNKS_A_DOCUMENT;
  await addStatistics(sql, {
    organizationNum: organization.num,
    spaceNum: space.num,
    chunks,
    terms: chunks,
    embeddingModel: MODEL,
  });
}

async function insertVectors(
  sql: Sql,
  { organization, space }: SearchSpace,
  runs: readonly number[],
  draw: () => Float32Array,
): Promise<void> {
  const modelNum = await embeddingModelNum(sql, MODEL, DIMENSIONS);
  const keys = runs.flatMap((run) =>
    Array.from({ length: CHUNKS_A_DOCUMENT }, (_, chunk) => ({ run, chunk })),
  );
  await sql.query(
    `insert into embeddings (organization_num, space_num, run_num, chunk_index, model_num, embedding)
     select $1, $2, made.run, made.at, $3, made.vector::halfvec
     from   unnest($4::int[], $5::int[], $6::text[]) made(run, at, vector)`,
    [
      organization.num,
      space.num,
      modelNum,
      keys.map(({ run }) => run),
      keys.map(({ chunk }) => chunk),
      keys.map(() => pgvector.toSql(Array.from(draw()))),
    ],
  );
}

/**
 * Deletes a share of the documents, as the first transaction of a deletion does: their vectors are hidden,
 * but still there.
 * @returns the runs of the deleted documents
 */
export async function deleteShare(db: OwnedDatabase, target: FilledSpace, share: number): Promise<number[]> {
  return inTenant(db, target.organization, async (sql) => {
    const { rows } = await sql.query<Runs>(
      `update documents
       set    deleted_at = now()
       where  space_id = $1
       and    deleted_at is null
       and    hashint4(num) % 100 between $2 and $3
       returning id, published_run_num as run`,
      [target.space.id, -(share * 100 - 1), share * 100 - 1],
    );
    for (const { run } of rows) await hide(sql, target, run, "deleted");
    await addToStatistics(sql, target, -rows.length);
    return rows.map(({ run }) => run);
  });
}

const hide = (
  sql: Sql,
  { organization, space }: SearchSpace,
  runNum: number,
  reason: "deleted" | "superseded",
): Promise<void> => hideRun(sql, { organizationNum: organization.num, spaceNum: space.num, runNum, reason });

/** Deletes the vectors of hidden runs, without a vacuum. */
export async function removeVectors(
  db: OwnedDatabase,
  { organization, space }: SearchSpace,
  runs: readonly number[],
): Promise<void> {
  await inTenant(db, organization, async (sql) => {
    await sql.query("delete from embeddings where space_num = $1 and run_num = any($2::int[])", [
      space.num,
      runs,
    ]);
    await sql.query("delete from hidden_runs where space_num = $1 and run_num = any($2::int[])", [
      space.num,
      runs,
    ]);
  });
}

/**
 * Publishes a new version of half of the documents with other vectors, and hides the vectors of the versions
 * before.
 * @returns the runs of the versions before
 */
export async function reprocessHalf(
  db: OwnedDatabase,
  target: FilledSpace,
  draw: () => Float32Array,
): Promise<number[]> {
  const { rows } = await db.owner.query<Runs>(
    `select id, published_run_num as run
     from   documents
     where  space_id = $1
     and    deleted_at is null
     and    num % 2 = 0`,
    [target.space.id],
  );
  for (let from = 0; from < rows.length; from += DOCUMENTS_AT_ONCE) {
    const part = rows.slice(from, from + DOCUMENTS_AT_ONCE);
    await inTenant(db, target.organization, async (sql) => {
      await insertVectors(
        sql,
        target,
        part.map(({ run }) => run + NEXT_RUN),
        draw,
      );
      await sql.query(
        `update documents
         set    published_run_num = published_run_num + $2,
                published_version = 2
         where  id = any($1::uuid[])`,
        [part.map(({ id }) => id), NEXT_RUN],
      );
      for (const { run } of part) await hide(sql, target, run, "superseded");
    });
  }
  return rows.map(({ run }) => run);
}
