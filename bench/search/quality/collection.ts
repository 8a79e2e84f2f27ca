/** Reads a collection in BEIR's format: its documents, queries and judgements. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";

export interface Entry {
  readonly _id: string;
  readonly title?: string;
  readonly text: string;
}

/** The grade of each judged document, by query and document. */
type Judgements = Map<string, Map<string, number>>;

export interface Collection {
  readonly corpus: readonly Entry[];
  readonly queries: readonly Entry[];
  readonly judgements: Judgements;
}

/** @param folder has corpus.jsonl, queries.jsonl and qrels/test.tsv */
export async function readCollection(folder: string): Promise<Collection> {
  return {
    corpus: await readEntries(join(folder, "corpus.jsonl")),
    queries: await readEntries(join(folder, "queries.jsonl")),
    judgements: await readJudgements(join(folder, "qrels", "test.tsv")),
  };
}

async function readEntries(path: string): Promise<Entry[]> {
  return (await readFile(path, "utf8"))
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Entry);
}

async function readJudgements(path: string): Promise<Judgements> {
  const judgements: Judgements = new Map();
  for (const line of (await readFile(path, "utf8")).trim().split("\n").slice(1)) {
    const [query, document, grade] = line.split("\t");
    const ofQuery = judgements.get(query!) ?? new Map<string, number>();
    judgements.set(query!, ofQuery.set(document!, Number(grade)));
  }
  return judgements;
}

export function textOf({ title, text }: Entry): string {
  return title ? `${title}\n${text}` : text;
}
