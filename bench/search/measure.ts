/**
 * How the search bench measures: questions of a made-up corpus, how long each took and whether it was
 * answered.
 */
import { inTenant } from "../../src/db/pool.ts";
import type { OwnedDatabase } from "../../test/support/servers/database.ts";
import { type SearchScope, readSearchScope } from "../../src/db/search/scope.ts";
import type { SearchSpace } from "../../test/support/stack/search-space.ts";
import type { MadeCorpus, MadeQuery } from "./corpus.ts";

export const say = (line: string): void => void process.stdout.write(`${line}\n`);
export const progress = (line: string): void =>
  void process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${line}\n`);
export const percentile = (times: readonly number[], share: number): string =>
  times.toSorted((one, other) => one - other)[Math.floor(times.length * share)]!.toFixed(1);

export interface Measured {
  readonly times: number[];
  readonly seconds: number;
  /** Of the chunk that each question was made from, among the first ten. */
  readonly mrr: number;
  readonly found: number;
}

/** Asks every question once, `atOnce` at a time, after a fifth of them for warmth. */
export async function ask(
  queries: readonly MadeQuery[],
  atOnce: number,
  search: (query: MadeQuery) => Promise<number[]>,
): Promise<Measured> {
  for (const query of queries.slice(0, Math.ceil(queries.length / 5))) await search(query);
  const times: number[] = [];
  let [mrr, found, next] = [0, 0, 0];
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
    `| ${name} | ${atOnce} | ${percentile(times, 0.5)} / ${percentile(times, 0.95)} | ` +
      `${(times.length / seconds).toFixed(0)} | ${mrr.toFixed(3)} | ${found.toFixed(3)} |`,
  );
}

export const header = (): void => {
  say("| search | at once | p50 / p95 (ms) | a second | MRR@10 | found in 10 |");
  say("|---|---|---|---|---|---|");
};

export interface Bench {
  readonly db: OwnedDatabase;
  readonly corpus: MadeCorpus;
  readonly target: SearchSpace;
  readonly queries: readonly MadeQuery[];
  /** Number of each chunk by its run and index; runs have ten. */
  readonly numbers: Map<string, number>;
}

const unfiltered = { documentIds: null, folderIds: null };
export const scopeOf = ({ db, target }: Bench): Promise<SearchScope> =>
  inTenant(db, target.organization, (sql) =>
    readSearchScope(sql, { space: target.space, filter: unfiltered }),
  );
