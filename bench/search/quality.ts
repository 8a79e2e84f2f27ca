/**
 * Measures retrieval quality on collections in BEIR's format, and what the parts of a search cost: one table
 * of words alone, meaning alone and both, beside what a reference reaches.
 */
import { loadavg } from "node:os";
import { Command, InvalidArgumentError } from "commander";
import { machine, say } from "../report.ts";
import { type Collection, collectionsIn, readCollection } from "./quality/collection.ts";
import { type DirectOptions, measureDirectly } from "./quality/directly.ts";
import { askReference } from "./quality/reference.ts";
import { type Measured, type Row, tableOf } from "./quality/table.ts";
import { measureThroughApi } from "./quality/through-api.ts";

interface Options extends DirectOptions {
  readonly collection: readonly string[];
  readonly collections?: string;
  readonly questions?: number;
  readonly python?: string;
  readonly direct?: boolean;
}

function positive(value: string): number {
  const number = Number(value);
  if (!Number.isInteger(number) || number < 1) throw new InvalidArgumentError("It is no count.");
  return number;
}

async function foldersOf({ collection, collections }: Options, program: Command): Promise<string[]> {
  const found = collections === undefined ? [] : await collectionsIn(collections);
  const all = [...found, ...collection];
  if (all.length === 0) program.error("Name the collections by --collections or --collection.");
  return all;
}

/** One after the other, so that one at a time is in memory. */
async function* read(folders: readonly string[], limit: number | undefined): AsyncGenerator<Collection> {
  for (const folder of folders) yield await readCollection(folder, limit);
}

async function main(options: Options, program: Command): Promise<void> {
  const folders = await foldersOf(options, program);
  say(`${machine()}; load average ${loadavg()[0]!.toFixed(1)} at the start`);
  say(
    options.direct
      ? "Functions of search in this process, over whole texts."
      : "Through the API of a whole service: default chunks, documents by their best one. A side alone " +
          "by its function, in the same index.",
  );
  const rows: Row[] = [];
  const add = async (collection: Collection, measured: Measured): Promise<void> => {
    const { python } = options;
    rows.push({
      ...measured,
      collection: collection.name,
      documents: collection.corpus.length,
      reference: python === undefined ? null : await askReference(python, collection),
    });
  };
  const collections = read(folders, options.questions);
  // What was measured is printed even if a later collection fails: a run takes an hour.
  try {
    await (options.direct ? measureDirectly(collections, options, add) : measureThroughApi(collections, add));
  } finally {
    say(`\n${tableOf(rows)}`);
  }
}

await new Command("bench:quality")
  .description("nDCG@10, recall@100 and MRR@10 on collections in BEIR's format, and the cost of each part.")
  .option("--collections <folder>", "take every folder in it that has what --collection wants")
  .option(
    "--collection <folder>",
    "a folder with corpus.jsonl, queries.jsonl and qrels/test.tsv; can be given several times",
    (folder: string, before: readonly string[]) => [...before, folder],
    [],
  )
  .option("--questions <n>", "only the first of each collection, for a quick look", positive)
  .option("--python <file>", "a Python that has bm25s and PyStemmer, for the reference")
  .option(
    "--direct",
    "call the functions of search in this process; without it texts are uploaded to a service that is " +
      "started for that, and searched",
  )
  .option(
    "--database <url>",
    "with --direct: a Postgres role that may create databases; without it an embedded server is started",
  )
  .option("--vectors <file>", "with --direct: keep vectors in files that begin with this name")
  .option("--sparse-only", "with --direct: leave the dense side out")
  .action((options: Options, program: Command) => main(options, program))
  .parseAsync();
