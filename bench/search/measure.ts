/** Asks the questions of a made-up corpus, and measures how long each took and whether it was answered. */
import { inTenant } from "../../src/db/pool.ts";
import type { OwnedDatabase } from "../../test/support/servers/database.ts";
import { type SearchScope, readSearchScope } from "../../src/db/search/scope.ts";
import type { SearchSpace } from "../../test/support/stack/search-space.ts";
import type { MadeCorpus, MadeQuery } from "./corpus.ts";
import { percentile, say } from "../report.ts";

/** Writes to stderr, with the time of day. */
export function progress(line: string): void {
  process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${line}\n`);
}

/** The median and the 95th percentile, as tables show them. */
export function medianAnd95(times: readonly number[]): string {
  return `${percentile(times, 0.5).toFixed(1)} / ${percentile(times, 0.95).toFixed(1)}`;
}

export interface Measured {
  readonly times: number[];
  readonly seconds: number;
  /** Mean reciprocal rank of the chunk that each question was made from, among the first ten. */
  readonly mrr: number;
  /** The share of questions whose chunk is among the first ten. */
  readonly found: number;
}

/** Asks a fifth of the questions to warm up, then every one once, `atOnce` at a time. */
export async function ask(
  queries: readonly MadeQuery[],
  atOnce: number,
  search: (query: MadeQuery) => Promise<number[]>,
): Promise<Measured> {
  for (const query of queries.slice(0, Math.ceil(queries.length / 5))) await search(query);
  const times: number[] = [];
  let mrr = 0;
  let found = 0;
  let next = 0;
  const started = performance.now();
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (let at = next++; at < queries.length; at = next++) {
        const before = performance.now();
        const rank = (await search(queries[at]!)).indexOf(queries[at]!.about);
        times.push(performance.now() - before);
        if (rank === -1) continue;
        mrr += 1 / (rank + 1);
        found++;
      }
    }),
  );
  return {
    times,
    seconds: (performance.now() - started) / 1_000,
    mrr: mrr / queries.length,
    found: found / queries.length,
  };
}

export function row(name: string, atOnce: number, { times, seconds, mrr, found }: Measured): void {
  say(
    `| ${name} | ${atOnce} | ${medianAnd95(times)} | ` +
      `${(times.length / seconds).toFixed(0)} | ${mrr.toFixed(3)} | ${found.toFixed(3)} |`,
  );
}

export function header(): void {
  say("| search | at once | p50 / p95 (ms) | a second | MRR@10 | found in 10 |");
  say("|---|---|---|---|---|---|");
}

export interface Bench {
  readonly db: OwnedDatabase;
  readonly corpus: MadeCorpus;
  readonly target: SearchSpace;
  readonly queries: readonly MadeQuery[];
  /** The number of each chunk in the corpus, by `run/index`; a run has ten chunks. */
  readonly numbers: Map<string, number>;
  /** How many terms the header of each chunk has. */
  readonly headerTerms: number;
}

const unfiltered = { documentIds: null, folderIds: null };
export const scopeOf = ({ db, target }: Bench): Promise<SearchScope> =>
  inTenant(db, target.organization, (sql) =>
    readSearchScope(sql, { space: target.space, filter: unfiltered }),
  );
