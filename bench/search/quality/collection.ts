/** Reads collections in BEIR's format: their documents, questions and judgements. */
import { existsSync } from "node:fs";
import { readFile, readdir } from "node:fs/promises";
import { basename, join, resolve } from "node:path";

export interface Entry {
  readonly _id: string;
  readonly title?: string;
  readonly text: string;
}

/** The grade of each judged document, by query and document. */
type Judgements = Map<string, Map<string, number>>;

/** A question with the grades of its judged documents. */
export interface Question {
  readonly id: string;
  readonly text: string;
  readonly grades: ReadonlyMap<string, number>;
}

export interface Collection {
  /** That of its folder. */
  readonly name: string;
  readonly corpus: readonly Entry[];
  /** Those that have a judged document. */
  readonly questions: readonly Question[];
}

const FILES = ["corpus.jsonl", "queries.jsonl", join("qrels", "test.tsv")] as const;

/** The folders of a folder that hold a collection each, by name. */
export async function collectionsIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder);
  const found = entries
    .toSorted()
    .map((name) => join(folder, name))
    .filter((path) => FILES.every((file) => existsSync(join(path, file))));
  if (found.length === 0) throw new Error(`No folder in ${folder} has ${FILES.join(", ")}.`);
  return found;
}

/**
 * @param folder has corpus.jsonl, queries.jsonl and qrels/test.tsv
 * @param limit questions at most, the first of the file; all by default
 */
export async function readCollection(folder: string, limit?: number): Promise<Collection> {
  const [corpus, queries, judgements] = FILES.map((file) => join(folder, file)) as [string, string, string];
  const judged = await readJudgements(judgements);
  const questions = (await readEntries(queries)).flatMap(({ _id, text }) => {
    const grades = judged.get(_id);
    return grades === undefined ? [] : [{ id: _id, text, grades }];
  });
  return {
    name: basename(resolve(folder)),
    corpus: await readEntries(corpus),
    questions: questions.slice(0, limit),
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
