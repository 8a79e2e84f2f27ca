/**
 * Fills a space for the search bench: documents of ten chunks, 500 chunks a transaction, through the
 * functions that publish.
 */
import pgvector from "pgvector";
import { embeddingModelNum } from "../../src/db/runs/chunks.ts";
import { type Sql, inTenant } from "../../src/db/pool.ts";
import type { OwnedDatabase } from "../../test/support/servers/database.ts";
import { insertPostings } from "../../src/search/index/postings.ts";
import { newId } from "../../src/domain/ids.ts";
import { ANALYZER_VERSION } from "../../src/search/text/analyzer.ts";
import type { SearchSpace } from "../../test/support/stack/search-space.ts";
import { addStatistics } from "../../test/support/stack/statistics.ts";
import type { MadeCorpus } from "./corpus.ts";
import { mergeWhatIsDue } from "./merge-segments.ts";

export const DIMENSIONS = 384;
export const MODEL = { name: "made-up", dimensions: DIMENSIONS, fusion: { alpha: 0.4 } };
const CHUNKS_A_DOCUMENT = 10;
const DOCUMENTS_AT_ONCE = 50;

interface Target {
  readonly db: OwnedDatabase;
  readonly corpus: MadeCorpus;
  readonly numbers: Map<string, number>;
  /** True by default: segments are merged after each transaction, as a worker does. */
  readonly isMerging?: boolean;
  /** Terms of the document's first chunk that the headers of all its chunks have; none by default. */
  readonly headerTerms?: number;
}

/**
 * Publishes documents that begin at the given chunks of the corpus.
 * @returns seconds that writing and merging postings took, without analysis
 */
export async function loadRange(
  { db, corpus, numbers, isMerging = true, headerTerms = 0 }: Target,
  target: SearchSpace,
  firstChunks: readonly number[],
): Promise<number> {
  let seconds = 0;
  for (let from = 0; from < firstChunks.length; from += DOCUMENTS_AT_ONCE) {
    const part = firstChunks.slice(from, from + DOCUMENTS_AT_ONCE);
    await inTenant(db, target.organization, async (sql) => {
      const runs = await insertDocuments(sql, target, part);
      const chunks = runs.flatMap(({ run, first }) =>
        Array.from({ length: CHUNKS_A_DOCUMENT }, (_, chunkIndex) => ({
          runNum: run,
          chunkIndex,
          number: first + chunkIndex,
          ...corpus.chunk(first + chunkIndex),
          headerTerms: corpus.chunk(first).terms.slice(0, headerTerms),
        })),
      );
      for (const chunk of chunks) numbers.set(`${chunk.runNum}/${chunk.chunkIndex}`, chunk.number);
      await insertVectors(sql, target, chunks);
      const before = performance.now();
      const terms = await insertPostings(
        sql,
        { organizationNum: target.organization.num, spaceNum: target.space.num },
        chunks,
        ANALYZER_VERSION,
      );
      seconds += (performance.now() - before) / 1_000;
      await addStatistics(sql, {
        organizationNum: target.organization.num,
        spaceNum: target.space.num,
        chunks: chunks.length,
        embeddingModel: MODEL.name,
        terms: [...terms.values()].reduce((sum, count) => sum + count, 0),
      });
    });
    const before = performance.now();
    if (isMerging) await mergeWhatIsDue(db, target);
    seconds += (performance.now() - before) / 1_000;
  }
  return seconds;
}

async function insertDocuments(
  sql: Sql,
  { organization, space, userId }: SearchSpace,
  firstChunks: readonly number[],
): Promise<{ run: number; first: number }[]> {
  const { rows } = await sql.query<{ run: number; first: number }>(
    `insert into documents
       (id, organization_id, space_id, space_num, name, file_type, file_size, content_type, created_by)
     select made.id, $1, $2, $3, made.name, 'TEXT', 1, 'text/plain', $4
     from   unnest($5::uuid[], $6::text[]) made(id, name)
     returning num as run, name::int as first`,
    [organization.id, space.id, space.num, userId, firstChunks.map(() => newId()), firstChunks.map(String)],
  );
  await sql.query(
    `update documents
     set    published_run_num = num,
            published_version = 1
     where  num = any($1::int[])`,
    [rows.map((row) => row.run)],
  );
  return rows;
}

async function insertVectors(
  sql: Sql,
  { organization, space }: SearchSpace,
  chunks: readonly { runNum: number; chunkIndex: number; text: string; vector: Float32Array }[],
): Promise<void> {
  const modelNum = await embeddingModelNum(sql, MODEL.name, DIMENSIONS);
  const runs = chunks.map((chunk) => chunk.runNum);
  const indexes = chunks.map((chunk) => chunk.chunkIndex);
  await sql.query(
    `insert into chunks
       (organization_id, run_num, chunk_index, id, document_id, text, token_count, content_hash)
     select $1, made.run, made.at, made.id, document.id, made.text, 150, '\\x00'
     from   unnest($2::int[], $3::int[], $4::uuid[], $5::text[]) made(run, at, id, text)
     join   documents document on document.num = made.run`,
    [organization.id, runs, indexes, chunks.map(() => newId()), chunks.map((chunk) => chunk.text)],
  );
  await sql.query(
    `insert into embeddings (organization_num, space_num, run_num, chunk_index, model_num, embedding)
     select $1, $2, made.run, made.at, $3, made.vector::halfvec
     from   unnest($4::int[], $5::int[], $6::text[]) made(run, at, vector)`,
    [
      organization.num,
      space.num,
      modelNum,
      runs,
      indexes,
      chunks.map((chunk) =>
        pgvector.toSql(Array.from(chunk.vector, (value) => Math.round(value * 10_000) / 10_000)),
      ),
    ],
  );
}
