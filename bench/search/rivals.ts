/**
 * Loads and asks what others use, for the search bench: ts_rank with one shared HNSW graph in Postgres, and
 * LanceDB's hybrid search.
 */
import { createRequire } from "node:module";
import { join } from "node:path";
import pgvector from "pgvector";
import type { OwnedDatabase } from "../../test/support/servers/database.ts";
import type { MadeCorpus, MadeQuery } from "./corpus.ts";

export interface Rival {
  readonly name: string;
  /** Numbers of the ten best chunks of a space. */
  search(query: MadeQuery, space: number): Promise<number[]>;
}

/** Chunks `from` to `to` are in space `space`. */
export interface LoadedRange {
  readonly space: number;
  readonly from: number;
  readonly to: number;
}

const ROWS_AT_ONCE = 1_000;
const DEPTH = 100;
/** The constant k of reciprocal rank fusion, as LanceDB and most others set it. */
const RRF = 60;

export async function loadTsRank(
  db: OwnedDatabase,
  corpus: MadeCorpus,
  ranges: readonly LoadedRange[],
  dimensions: number,
): Promise<Rival> {
  const sql = db.owner;
  await sql.query(
    `create table rival (space int, chunk int, words tsvector, embedding halfvec(${dimensions}))`,
  );
  for (const { space, from, to } of ranges) {
    for (let at = from; at < to; at += ROWS_AT_ONCE) {
      const numbers = Array.from({ length: Math.min(ROWS_AT_ONCE, to - at) }, (_, step) => at + step);
      const chunks = numbers.map((number) => corpus.chunk(number));
      await sql.query(
        `insert into rival
         select $1, made.chunk, to_tsvector('simple', made.text), made.vector::halfvec
         from   unnest($2::int[], $3::text[], $4::text[]) made(chunk, text, vector)`,
        [
          space,
          numbers,
          chunks.map((chunk) => chunk.text),
          chunks.map((chunk) => pgvector.toSql(Array.from(chunk.vector))),
        ],
      );
    }
  }
  await sql.query("set maintenance_work_mem = '512MB'");
  await sql.query("create index on rival using gin (words)");
  await sql.query("create index on rival (space)");
  await sql.query("create index on rival using hnsw (embedding halfvec_cosine_ops)");
  await sql.query("vacuum analyze rival");
  return {
    name: "ts_rank + one shared HNSW",
    async search(query, space) {
      const [words, vectors] = await Promise.all([
        sql.query<{ chunk: number }>(
          `select   chunk
           from     rival, to_tsquery('simple', $2) query
           where    space = $1
           and      words @@ query
           order by ts_rank(words, query) desc
           limit    $3`,
          [space, query.text.replaceAll(" ", " | "), DEPTH],
        ),
        sql.query<{ chunk: number }>(
          `select   chunk
           from     rival
           where    space = $1
           order by embedding <=> $2
           limit    $3`,
          [space, pgvector.toSql(Array.from(query.vector)), DEPTH],
        ),
      ]);
      const scores = new Map<number, number>();
      for (const { rows } of [words, vectors])
        for (const [rank, { chunk }] of rows.entries())
          scores.set(chunk, (scores.get(chunk) ?? 0) + 1 / (RRF + rank + 1));
      return [...scores]
        .toSorted((one, other) => other[1] - one[1])
        .slice(0, 10)
        .map(([chunk]) => chunk);
    },
  };
}

/** The part of LanceDB's module that is used here. */
interface LanceTable {
  add(rows: readonly object[]): Promise<unknown>;
  createIndex(column: string, options?: object): Promise<void>;
  query(): any;
}
interface Lance {
  connect(
    folder: string,
  ): Promise<{ createTable(name: string, rows: readonly object[]): Promise<LanceTable> }>;
  Index: { fts(options: object): unknown; ivfPq(options: object): unknown; btree(): unknown };
  rerankers: { RRFReranker: { create(k: number): Promise<unknown> } };
}

/** @param installed a folder in whose node_modules @lancedb/lancedb is. */
export async function loadLance(
  installed: string,
  folder: string,
  corpus: MadeCorpus,
  ranges: readonly LoadedRange[],
): Promise<Rival> {
  process.env["LANCE_LOG"] ??= "error";
  const lance = createRequire(join(installed, "index.js"))("@lancedb/lancedb") as Lance;
  const connection = await lance.connect(folder);
  let table: LanceTable | undefined;
  for (const { space, from, to } of ranges) {
    for (let at = from; at < to; at += ROWS_AT_ONCE * 5) {
      const rows = Array.from({ length: Math.min(ROWS_AT_ONCE * 5, to - at) }, (_, step) => {
        const { text, vector } = corpus.chunk(at + step);
        return { space, chunk: at + step, text, vector: Array.from(vector) };
      });
      if (table === undefined) table = await connection.createTable("chunks", rows);
      else await table.add(rows);
    }
  }
  if (table === undefined) throw new Error("nothing to load");
  const loaded = table;
  await loaded.createIndex("text", {
    config: lance.Index.fts({ withPosition: false, stem: false, removeStopWords: false }),
  });
  await loaded.createIndex("vector", { config: lance.Index.ivfPq({ distanceType: "cosine" }) });
  await loaded.createIndex("space", { config: lance.Index.btree() });
  const reranker = await lance.rerankers.RRFReranker.create(RRF);
  return {
    name: "LanceDB hybrid (IVF_PQ, full text)",
    async search(query, space) {
      const rows = await loaded
        .query()
        .nearestTo(Array.from(query.vector))
        .distanceType("cosine")
        .refineFactor(5)
        .fullTextSearch(query.text, { columns: ["text"] })
        .where(`space = ${space}`)
        .rerank(reranker)
        .select(["chunk"])
        .limit(10)
        .toArray();
      return rows.map((row: { chunk: number }) => row.chunk);
    },
  };
}
