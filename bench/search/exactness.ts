/**
 * Compares the ranking of sparse search with the reference implementation of BM25: bm25s (PyPI), Lucene's
 * variant, given the same terms.
 */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Command } from "commander";
import { migrate } from "../../src/db/migrate.ts";
import { inTenant } from "../../src/db/pool.ts";
import type { OwnedDatabase } from "../../test/support/servers/database.ts";
import { readSearchScope } from "../../src/db/search/scope.ts";
import { analyze } from "../../src/search/text/analyzer.ts";
import { scoreSparse } from "../../src/search/bm25.ts";
import { createChunkSet } from "../../src/search/chunk-set.ts";
import {
  type SearchSpace,
  createOrganization,
  createSpace,
  publishDocuments,
} from "../../test/support/stack/search-space.ts";
import { mergeWhatIsDue } from "./merge-segments.ts";
import { askPython } from "./python.ts";
import { openThrowaway, throwawayDatabase } from "../throwaway-database.ts";
import { say } from "../report.ts";

interface Options {
  readonly collection: string;
  readonly python: string;
  readonly write?: string;
  readonly database?: string;
}

interface Terms {
  readonly documents: readonly (readonly string[])[];
  readonly queries: readonly (readonly string[])[];
}

interface Reference {
  readonly version: string;
  /** The ten best of each query: place of the document, and score. */
  readonly rankings: readonly (readonly (readonly [number, number])[])[];
}

const DOCUMENTS_AT_ONCE = 64;
/** Scores are about ten, and bm25s adds the terms up in another order. */
const ROUNDING = 1e-9;

async function termsOf(file: string): Promise<string[][]> {
  const lines = (await readFile(file, "utf8")).split("\n").filter(Boolean);
  return lines.map((line) => {
    const { title, text } = JSON.parse(line) as { title?: string; text: string };
    return analyze(title ? `${title}\n${text}` : text).terms;
  });
}

/** The ten best of each query, documents by their place. */
async function rank(
  db: OwnedDatabase,
  target: SearchSpace,
  queries: Terms["queries"],
  placeOf: ReadonlyMap<number, number>,
): Promise<[number, number][][]> {
  return inTenant(db, target.organization, async (sql) => {
    const scope = await readSearchScope(sql, {
      space: target.space,
      filter: { documentIds: null, folderIds: null },
    });
    const rankings: [number, number][][] = [];
    for (const terms of queries) {
      const words = [...Map.groupBy(terms, (term) => term)].map(([term, same]) => ({
        terms: [term],
        weight: same.length,
      }));
      const best = (await scoreSparse(sql, scope, words)).best(
        { required: null, excluded: createChunkSet(0) },
        10,
      );
      rankings.push(best.map((hit) => [placeOf.get(hit.run_num)!, hit.bm25]));
    }
    return rankings;
  });
}

/** The same documents at the same places, with the same scores; equal scores may change places. */
function isSame(
  found: readonly (readonly [number, number])[],
  wanted: readonly (readonly [number, number])[],
): boolean {
  if (found.length !== wanted.length) return false;
  return found.every(
    ([place, score], at) =>
      Math.abs(score - wanted[at]![1]) < ROUNDING &&
      (place === wanted[at]![0] || wanted.some(([, other]) => Math.abs(score - other) < ROUNDING)),
  );
}

/** @returns the place of each document in the collection, by the number of its run */
async function publish(
  db: OwnedDatabase,
  target: SearchSpace,
  documents: Terms["documents"],
): Promise<Map<number, number>> {
  const placeOf = new Map<number, number>();
  for (let from = 0; from < documents.length; from += DOCUMENTS_AT_ONCE) {
    const part = documents.slice(from, from + DOCUMENTS_AT_ONCE);
    const written = await publishDocuments(
      db,
      target,
      part.map((document) => ({ chunks: [{ text: "", terms: document }] })),
    );
    for (const [at, { runNum }] of written.entries()) placeOf.set(runNum, from + at);
  }
  return placeOf;
}

const placesOf = (ranking: readonly (readonly [number, number])[]): string =>
  ranking.map(([place]) => place).join();

function compare(
  state: string,
  found: readonly (readonly [number, number])[][],
  reference: Reference,
  documents: number,
): void {
  const same = found.filter((ranking, at) => isSame(ranking, reference.rankings[at]!)).length;
  const samePlaces = found.filter(
    (ranking, at) => placesOf(ranking) === placesOf(reference.rankings[at]!),
  ).length;
  say(
    `${state}: of ${found.length} queries over ${documents} documents, ${same} have the same ten, ` +
      `${samePlaces} also with ties in the same order (bm25s ${reference.version})`,
  );
}

async function writeReference(file: string, terms: Terms, reference: Reference): Promise<void> {
  const joined = (all: Terms["documents"]): string[] => all.map((one) => one.join(" "));
  const kept = { documents: joined(terms.documents), queries: joined(terms.queries), ...reference };
  await writeFile(file, `${JSON.stringify(kept)}\n`);
}

async function main(options: Options): Promise<void> {
  const terms: Terms = {
    documents: await termsOf(join(options.collection, "corpus.jsonl")),
    queries: await termsOf(join(options.collection, "queries.jsonl")),
  };
  const reference = (await askPython(options.python, "bm25s-rankings.py", terms)) as Reference;
  if (options.write !== undefined) await writeReference(options.write, terms, reference);
  const database = await throwawayDatabase(options.database);
  const db = openThrowaway(database.url, 4);
  try {
    await migrate(db);
    const target = await createSpace(db, await createOrganization(db));
    const placeOf = await publish(db, target, terms.documents);
    const report = async (state: string): Promise<void> =>
      compare(state, await rank(db, target, terms.queries, placeOf), reference, terms.documents.length);
    await report("as published");
    await mergeWhatIsDue(db, target);
    await report("merged");
  } finally {
    await db.close();
    await database.drop();
  }
}

await new Command("bench:exactness")
  .description("The ten best of each query against bm25s, Lucene's variant, given the same terms.")
  .requiredOption("--collection <folder>", "a folder in BEIR's format")
  .requiredOption("--python <file>", "a Python that has bm25s")
  .option("--write <file>", "keep terms and the reference's rankings in a file, as the test of them reads it")
  .option(
    "--database <url>",
    "a Postgres role that may create databases; without it an embedded server is started",
  )
  .action(main)
  .parseAsync();
