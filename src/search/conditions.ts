/** The only place that turns a query's operators into conditions on chunks. */
import { type ChunkConditions, type ChunkKey, NO_CONDITIONS, type SearchScope } from "../db/search/scope.ts";
import { chunksWithAllWords } from "../db/search/postings.ts";
import type { Sql } from "../db/pool.ts";
import { analyzeQuery } from "./analyzer.ts";
import { type ParsedQuery, holdsPhrase } from "./query.ts";

/** Chunks that have a phrase's words and are looked through for the phrase itself. */
const MAX_PHRASE_CHUNKS = 2_000;

async function chunksWithPhrase(sql: Sql, scope: SearchScope, phrase: string): Promise<ChunkKey[]> {
  const words = analyzeQuery(phrase, scope.languages).map((word) => word.terms);
  const chunks = await chunksWithAllWords(sql, scope, words, MAX_PHRASE_CHUNKS);
  return chunks.filter((chunk) => holdsPhrase(chunk.text, phrase)).map(({ run_num, chunk_index }) => ({ run_num, chunk_index }));
}

/** A phrase of function words alone is no condition: no chunk is found by them. */
function isTelling(phrase: string): boolean {
  return analyzeQuery(phrase, []).length > 0;
}

export async function readConditions(sql: Sql, scope: SearchScope, query: ParsedQuery): Promise<ChunkConditions> {
  if (query.phrases.length + query.excludedPhrases.length + query.excludedWords.length === 0) return NO_CONDITIONS;
  let required: ChunkKey[] | null = null;
  for (const phrase of query.phrases.filter(isTelling)) {
    const found = await chunksWithPhrase(sql, scope, phrase);
    const before: Set<string> | null = required === null ? null : new Set(required.map(nameOf));
    required = before === null ? found : found.filter((key) => before.has(nameOf(key)));
  }
  const excluded: ChunkKey[] = [];
  for (const phrase of query.excludedPhrases.filter(isTelling)) excluded.push(...(await chunksWithPhrase(sql, scope, phrase)));
  const excludedTerms = query.excludedWords.flatMap((word) => analyzeQuery(word, scope.languages).flatMap(({ terms }) => terms));
  return { required, excluded, excludedTerms: [...new Set(excludedTerms)] };
}

/** One string for a chunk, for maps. */
export function nameOf(key: ChunkKey): string {
  return `${key.run_num}/${key.chunk_index}`;
}
