/** The only SQL on postings: the inverted index that BM25 is computed from. */
import type { Sql } from "../pool.ts";
import { type ChunkConditions, type ChunkKey, NO_CONDITIONS, type SearchScope, keyColumns, seenIn, spaceLiteral } from "./scope.ts";

export interface IndexedChunk {
  readonly runNum: number;
  readonly chunkIndex: number;
  /** As the analyzer gave them, with repetitions. */
  readonly terms: readonly string[];
}

interface PostingColumns {
  readonly terms: string[];
  readonly runs: number[];
  readonly indexes: number[];
  readonly counts: number[];
  readonly lengths: number[];
}

/** Rows in the order of the index, which is half the work of writing them. */
function columnsOf(chunks: readonly IndexedChunk[]): PostingColumns {
  const byTerm = new Map<string, number[]>();
  for (const { runNum, chunkIndex, terms } of chunks) {
    const counts = new Map<string, number>();
    for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
    for (const [term, count] of counts) {
      const row = byTerm.get(term);
      if (row === undefined) byTerm.set(term, [runNum, chunkIndex, count, terms.length]);
      else row.push(runNum, chunkIndex, count, terms.length);
    }
  }
  const columns: PostingColumns = { terms: [], runs: [], indexes: [], counts: [], lengths: [] };
  for (const term of [...byTerm.keys()].toSorted()) {
    const rows = byTerm.get(term)!;
    for (let at = 0; at < rows.length; at += 4) {
      columns.terms.push(term);
      columns.runs.push(rows[at]!);
      columns.indexes.push(rows[at + 1]!);
      columns.counts.push(rows[at + 2]!);
      columns.lengths.push(rows[at + 3]!);
    }
  }
  return columns;
}

/** Writes the postings of chunks of any number of runs in one statement. Writing a chunk again changes nothing. */
export async function insertPostings(sql: Sql, space: { readonly organizationNum: number; readonly spaceNum: number }, chunks: readonly IndexedChunk[]): Promise<void> {
  const { terms, runs, indexes, counts, lengths } = columnsOf(chunks);
  if (terms.length === 0) return;
  await sql.query({
    name: "search.insert-postings",
    text: `insert into postings (organization_num, space_num, term, run_num, chunk_index, term_count, chunk_length)
           select $1, $2, * from unnest($3::text[], $4::int[], $5::int[], $6::smallint[], $7::smallint[]) on conflict do nothing`,
    values: [space.organizationNum, space.spaceNum, terms, runs, indexes, counts, lengths],
  });
}

/** In how many live chunks of the space each term is, in the order given; filters of a search do not change it. */
export async function countDocumentFrequencies(sql: Sql, scope: SearchScope, terms: readonly string[]): Promise<number[]> {
  const values: unknown[] = [terms];
  const live = seenIn({ ...scope, runs: null }, NO_CONDITIONS, "p", values);
  const { rows } = await sql.query<{ df: number }>(
    `select (select count(*) from postings p where p.space_num = ${spaceLiteral(scope.spaceNum)} and p.term = t.term${live})::int as df
     from unnest($1::text[]) with ordinality t(term, n) order by t.n`,
    values,
  );
  return rows.map((row) => row.df);
}

export interface WeightedTerm {
  readonly term: string;
  /** Inverse document frequency, times how much the query wants the term. */
  readonly weight: number;
}

export interface SparseCandidate extends ChunkKey {
  readonly bm25: number;
}

const K1 = 1.2;
const B = 0.75;

/**
 * sum(weight * tf / (tf + k1 * (1 - b + b * length / average))), Lucene's variant of BM25 (Kamphuis et al. 2020), as `score`.
 * Takes $1 terms, $2 weights, $3 k1 * b / average. In float8 throughout: numeric arithmetic takes three times as long.
 */
const SCORE = `sum(q.weight * p.term_count::float8 / (p.term_count::float8 + ${K1 * (1 - B)}::float8 + $3::float8 * p.chunk_length::float8))`;

function scoreValues(scope: SearchScope, terms: readonly WeightedTerm[]): unknown[] {
  const average = scope.chunks > 0 && scope.terms > 0 ? scope.terms / scope.chunks : 1;
  return [terms.map((term) => term.term), terms.map((term) => term.weight), (K1 * B) / average];
}

/** The `limit` best chunks by BM25, best first; equal ones by run and index. */
export async function sparseCandidates(
  sql: Sql,
  scope: SearchScope,
  conditions: ChunkConditions,
  { terms, limit }: { terms: readonly WeightedTerm[]; limit: number },
): Promise<SparseCandidate[]> {
  if (terms.length === 0) return [];
  const values = scoreValues(scope, terms);
  const seen = seenIn(scope, conditions, "p", values);
  const { rows } = await sql.query<SparseCandidate>(
    `select p.run_num, p.chunk_index, ${SCORE} as bm25
     from unnest($1::text[], $2::float8[]) q(term, weight) join postings p on p.space_num = ${spaceLiteral(scope.spaceNum)} and p.term = q.term${seen}
     group by p.run_num, p.chunk_index order by bm25 desc, p.run_num, p.chunk_index limit $${values.push(limit)}`,
    values,
  );
  return rows;
}

/** BM25 of given chunks; a chunk with none of the terms is left out. */
export async function sparseScores(sql: Sql, scope: SearchScope, terms: readonly WeightedTerm[], keys: readonly ChunkKey[]): Promise<SparseCandidate[]> {
  if (terms.length === 0 || keys.length === 0) return [];
  const values = [...scoreValues(scope, terms), ...keyColumns(keys)];
  const { rows } = await sql.query<SparseCandidate>(
    `select p.run_num, p.chunk_index, ${SCORE} as bm25
     from unnest($4::int[], $5::int[]) c(run_num, chunk_index) cross join unnest($1::text[], $2::float8[]) q(term, weight)
     join postings p on p.space_num = ${spaceLiteral(scope.spaceNum)} and p.term = q.term and p.run_num = c.run_num and p.chunk_index = c.chunk_index
     group by p.run_num, p.chunk_index`,
    values,
  );
  return rows;
}

/** Chunks that have a term of every one of `words`, each word given by all its terms, with their texts; the first `limit` by run and index. */
export async function chunksWithAllWords(sql: Sql, scope: SearchScope, words: readonly (readonly string[])[], limit: number): Promise<(ChunkKey & { readonly text: string })[]> {
  if (words.length === 0) return [];
  const values: unknown[] = [words.flat(), words.flatMap((terms, index) => terms.map(() => index)), words.length];
  const seen = seenIn(scope, NO_CONDITIONS, "p", values);
  const { rows } = await sql.query<ChunkKey & { text: string }>(
    `select c.run_num, c.chunk_index, c.text from (
       select p.run_num, p.chunk_index from unnest($1::text[], $2::int[]) q(term, word)
       join postings p on p.space_num = ${spaceLiteral(scope.spaceNum)} and p.term = q.term${seen}
       group by p.run_num, p.chunk_index having count(distinct q.word) = $3
       order by p.run_num, p.chunk_index limit $${values.push(limit)}) m
     join chunks c on c.run_num = m.run_num and c.chunk_index = m.chunk_index`,
    values,
  );
  return rows;
}
