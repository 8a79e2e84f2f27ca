/** Turns the operators of a query into conditions on chunks. */
import { readTexts } from "../db/search/hits.ts";
import type { Sql } from "../db/pool.ts";
import { eachPosting } from "./index/posting-blocks.ts";
import { readPostings } from "./index/postings.ts";
import type { ChunkKey, SearchScope } from "../db/search/scope.ts";
import { createTimeSlice } from "../process/time-slice.ts";
import { analyzeQuery } from "./text/analyzer.ts";
import { type ChunkConditions, type ChunkSet, createChunkSet } from "./chunk-set.ts";
import { type ParsedQuery, holdsPhrase } from "./query.ts";
import { maskOf, visibleRuns } from "./visibility.ts";

/** Chunks with all words of a phrase whose text is searched for the phrase itself. */
const MAX_PHRASE_CHUNKS = 2_000;

function add(set: ChunkSet, keys: readonly ChunkKey[]): ChunkSet {
  for (const key of keys) set.add(key.run_num, key.chunk_index, 1);
  return set;
}

async function chunksWith(sql: Sql, scope: SearchScope, terms: readonly string[]): Promise<ChunkSet> {
  const found = createChunkSet(0);
  const isVisible = visibleRuns(scope);
  for (const { list, byTerm } of await readPostings(sql, scope, terms)) {
    const visible = maskOf(list, isVisible);
    for (const block of byTerm.values()) {
      eachPosting(block, (place) => {
        if (visible === null || visible[place] === 1) found.add(list.runs[place]!, list.chunks[place]!, 1);
      });
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

/** False for a phrase of nothing but function words. No chunk is found by them, so it is no condition. */
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
