/**
 * Measures the answers without a language model on a collection in BEIR's format: how many hold the expected
 * words, and how many say that nothing was found, of its own questions and of those about something else.
 */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { Command } from "commander";
import { createCitationFilter } from "../../src/agents/citations.ts";
import { PASSAGES_DEFAULT } from "../../src/agents/knowledge.ts";
import { createSources, fenceSources } from "../../src/agents/sources.ts";
import { chunkerNamed } from "../../src/chunkers/index.ts";
import { createLocalExtractive } from "../../src/models/chat/local-extractive.ts";
import { createLocalMiniLm } from "../../src/models/embedding/local-minilm.ts";
import { analyze, analyzeQuery } from "../../src/search/text/analyzer.ts";
import { say } from "../report.ts";
import { rankingOf } from "./answers/ranking.ts";
import { type Entry, type Question, readCollection, textOf } from "./quality/collection.ts";

interface Options {
  readonly collection: string;
  readonly foreign: readonly string[];
  readonly show: string;
}

/** Questions about something else that are asked of one collection. */
const FOREIGN_QUESTIONS = 200;
/** The default of a space. */
const CHUNK = { maxTokens: 240, overlapTokens: 0 };

const chat = createLocalExtractive({ analyze, analyzeQuery });

interface Answer {
  readonly question: Question;
  readonly text: string;
  /** How many quotes have a mark that the service takes for one. */
  readonly quotes: number;
  /** Whether what the model was given has the expected words; false if none are known. */
  readonly wasGiven: boolean;
  readonly isRight: boolean;
}

type Expected = ReadonlyMap<string, readonly string[]>;

/** Returns what answers a question from the documents, as a `rag` agent does. */
function answererOf(corpus: readonly Entry[], tokenizer: Parameters<ReturnType<typeof chunkerNamed>>[2]) {
  const chunks = corpus.flatMap((entry) => {
    const paragraphs = textOf(entry).split("\n\n");
    const units = paragraphs.map((text) => ({
      type: "paragraph" as const,
      text,
      page: null,
      heading_path: [],
    }));
    return chunkerNamed("recursive")(units, CHUNK, tokenizer).map(({ text }) => ({ name: entry._id, text }));
  });
  const rank = rankingOf(chunks.map(({ text }) => text));
  return async (question: Question, expected: readonly string[] = []): Promise<Answer> => {
    const sources = createSources();
    const found = rank(question.text, PASSAGES_DEFAULT).map((number) => ({
      chunk_id: String(number),
      document_id: chunks[number]!.name,
      document_name: chunks[number]!.name,
      chunk_index: 0,
      page: null,
      text: chunks[number]!.text,
    }));
    const given = fenceSources(sources.add(found));
    const filter = createCitationFilter(sources);
    const messages = [
      { role: "system" as const, content: given },
      { role: "user" as const, content: question.text },
    ];
    let text = "";
    for await (const event of chat.stream({ model: "", messages }, new AbortController().signal))
      if (event.type === "content") text += filter.write(event.text);
    text += filter.end();
    return {
      question,
      text,
      quotes: filter.marks().length,
      wasGiven: holdsOne(given, expected),
      isRight: holdsOne(text, expected),
    };
  };
}

const comparable = (text: string): string =>
  text.normalize("NFKC").toLowerCase().replace(/\s+/gu, " ").trim();

function holdsOne(text: string, expected: readonly string[]): boolean {
  const plain = comparable(text);
  return expected.some((words) => plain.includes(comparable(words)));
}

async function readExpected(folder: string): Promise<Expected> {
  const path = join(folder, "answers.jsonl");
  if (!existsSync(path)) return new Map();
  const lines = (await readFile(path, "utf8")).split("\n").filter((line) => line !== "");
  return new Map(
    lines.map((line) => {
      const { _id, answers } = JSON.parse(line) as { _id: string; answers: string[] };
      return [_id, answers];
    }),
  );
}

/** As many of all as wanted, evenly from the whole list. */
function spread<T>(all: readonly T[], wanted: number): T[] {
  if (all.length <= wanted) return [...all];
  return Array.from({ length: wanted }, (_, at) => all[Math.floor((at * all.length) / wanted)]!);
}

const percent = (part: number, all: number): string => `${((100 * part) / all).toFixed(1)} %`;

function report(title: string, answers: readonly Answer[], hasExpected: boolean): void {
  const count = (has: (answer: Answer) => boolean): string =>
    percent(answers.filter((answer) => has(answer)).length, answers.length);
  const quoting = answers.filter(({ quotes }) => quotes > 0);
  const mean = (of: (answer: Answer) => number): number =>
    quoting.reduce((sum, answer) => sum + of(answer), 0) / Math.max(1, quoting.length);
  say(
    `${title.padEnd(34)} ${answers.length} questions, refused ${count(({ quotes }) => quotes === 0)}` +
      (hasExpected
        ? `, right ${count(({ isRight }) => isRight)} of ${count(({ wasGiven }) => wasGiven)} that could be`
        : "") +
      `; ${mean(({ quotes }) => quotes).toFixed(2)} quotes of ${mean(({ text }) => text.length).toFixed(0)} characters`,
  );
}

async function main({ collection: folder, foreign, show }: Options): Promise<void> {
  const { corpus, questions: own } = await readCollection(folder);
  const expected = await readExpected(folder);
  const model = createLocalMiniLm({ embedsSoon: false });
  const ask = answererOf(corpus, model);
  const answersOf = async (questions: readonly Question[], answer = ask): Promise<Answer[]> => {
    const answers: Answer[] = [];
    for (const question of questions) answers.push(await answer(question, expected.get(question.id)));
    for (const { question, text, isRight } of answers.slice(0, Number(show)))
      say(`${isRight ? "+" : "-"} ${question.text}\n  ${text.replaceAll("\n", "\n  ")}`);
    return answers;
  };
  report(`${basename(folder)}: its own`, await answersOf(own), expected.size > 0);

  // The same language and style, so that only what it is about differs.
  const half = corpus.slice(0, Math.floor(corpus.length / 2));
  const names = new Set(half.map(({ _id }) => _id));
  const elsewhere = own.filter(({ grades }) => [...grades.keys()].every((name) => !names.has(name)));
  report(
    "asked of the half without them",
    await answersOf(spread(elsewhere, FOREIGN_QUESTIONS), answererOf(half, model)),
    false,
  );
  for (const other of foreign) {
    const { questions: others } = await readCollection(other);
    report(`questions of ${basename(other)}`, await answersOf(spread(others, FOREIGN_QUESTIONS)), false);
  }
  await model.close();
}

const program = new Command()
  .requiredOption(
    "--collection <folder>",
    "a folder with corpus.jsonl, queries.jsonl and qrels/test.tsv; answers.jsonl has the expected words",
  )
  .option(
    "--foreign <folder>",
    "a collection whose questions are about something else; repeat for more",
    (folder: string, all: string[]) => [...all, folder],
    [],
  )
  .option("--show <number>", "print so many answers of each kind", "0");
await main(program.parse().opts<Options>());
