/** The only place that turns a query's operators into conditions on chunks. */
import { readTexts } from "../db/search/hits.ts";
import type { Sql } from "../db/pool.ts";
import { eachPosting } from "../db/search/index/posting-blocks.ts";
import { readPostings } from "../db/search/index/postings.ts";
import type { ChunkKey, SearchScope } from "../db/search/scope.ts";
import { createTimeSlice } from "../db/search/time-slice.ts";
import { analyzeQuery } from "./text/analyzer.ts";
import { maskOf, visibleRuns } from "./bm25.ts";
import { type ChunkSet, createChunkSet } from "./chunk-set.ts";
import { type ParsedQuery, holdsPhrase } from "./query.ts";

export interface ChunkConditions {
  /** The only chunks to be seen; null is no narrowing. */
  readonly required: ChunkSet | null;
  readonly excluded: ChunkSet;
}

/** Chunks that have a phrase's words and are looked through for the phrase itself. */
const MAX_PHRASE_CHUNKS = 2_000;

function add(set: ChunkSet, keys: readonly ChunkKey[]): ChunkSet {
  for (const key of keys) set.add(key.run_num, key.chunk_index, 1);
  return set;
}

/** Chunks that have any of the terms. */
async function chunksWith(sql: Sql, scope: SearchScope, terms: readonly string[]): Promise<ChunkSet> {
  const found = createChunkSet(0);
  for (const { list, byTerm } of await readPostings(sql, scope, terms)) {
    const visible = maskOf(list, visibleRuns(scope));
    for (const block of byTerm.values()) {
      eachPosting(
        block,
        (place) =>
          void (
            (visible === null || visible[place] === 1) &&
            found.add(list.runs[place]!, list.chunks[place]!, 1)
          ),
      );
    }
  }
  return found;
}

async function chunksWithPhrase(sql: Sql, scope: SearchScope, phrase: string): Promise<ChunkKey[]> {
  let candidates: ChunkKey[] | null = null;
  for (const { terms } of analyzeQuery(phrase, scope.languages)) {
    const found = await chunksWith(sql, scope, terms);
    const before: ChunkKey[] = candidates ?? found.keys();
    candidates = before.filter((key) => found.has(key.run_num, key.chunk_index));
  }
  const texts = await readTexts(sql, (candidates ?? []).slice(0, MAX_PHRASE_CHUNKS));
  const holding: ChunkKey[] = [];
  const endOfSlice = createTimeSlice();
  for (const chunk of texts) {
    if (holdsPhrase(chunk.text, phrase)) holding.push(chunk);
    await endOfSlice();
  }
  return holding;
}

/** A phrase of function words alone is no condition: no chunk is found by them. */
function isTelling(phrase: string): boolean {
  return analyzeQuery(phrase, []).length > 0;
}

export async function readConditions(
  sql: Sql,
  scope: SearchScope,
  query: ParsedQuery,
): Promise<ChunkConditions> {
  let required: ChunkSet | null = null;
  for (const phrase of query.phrases.filter(isTelling)) {
    const before: ChunkSet | null = required;
    const found = await chunksWithPhrase(sql, scope, phrase);
    required = add(
      createChunkSet(found.length),
      found.filter((key) => before === null || before.has(key.run_num, key.chunk_index)),
    );
  }
  const excludedTerms = query.excludedWords.flatMap((word) =>
    analyzeQuery(word, scope.languages).flatMap(({ terms }) => terms),
  );
  const excluded = await chunksWith(sql, scope, excludedTerms);
  for (const phrase of query.excludedPhrases.filter(isTelling))
    add(excluded, await chunksWithPhrase(sql, scope, phrase));
  return { required, excluded };
}

/** One string for a chunk, for maps. */
export function nameOf(key: ChunkKey): string {
  return `${key.run_num}/${key.chunk_index}`;
}
