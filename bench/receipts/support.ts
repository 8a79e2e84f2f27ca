/**
 * Measures which statements pass for supported by their source: pairs are made from test collections of
 * retrieval, whose relevant passages carry a statement and whose others only share its topic.
 */
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { pickQuote } from "../../src/agents/quotes/pick.ts";
import { type ReadPassage, readWhole } from "../../src/agents/quotes/passage.ts";
import { sentencesIn } from "../../src/agents/quotes/sentences.ts";
import { cutWords } from "../../src/search/text/tokens.ts";
import { say } from "../report.ts";

interface Pair {
  readonly statement: string;
  readonly passage: string;
  readonly isSupported: boolean;
  /** How the pair was made. */
  readonly kind: string;
}

const PAIRS_MAX = 300;
const DROPPED = 0.3;

/**
 * Prints precision and recall of `strong` for each collection and way of making pairs.
 * @param dir a folder with a folder a collection, in the form of BEIR: corpus.jsonl, queries.jsonl,
 *   qrels/test.tsv, and answers.jsonl where questions have answers.
 */
export function measureSupport(dir: string): void {
  say("| collection | pairs | strong of supported | strong of unsupported | precision |");
  say("|---|---|---|---|---|");
  for (const name of readdirSync(dir).toSorted()) {
    if (!existsSync(join(dir, name, "corpus.jsonl"))) continue;
    const pairs = pairsOf(join(dir, name));
    const passages = new Map<string, ReadPassage>();
    const isStrong = ({ statement, passage }: Pair): boolean => {
      const read = passages.get(passage) ?? readWhole(passage, "");
      passages.set(passage, read);
      return pickQuote(statement, read).support === "strong";
    };
    const kinds = Map.groupBy(pairs, ({ kind }) => kind);
    for (const [kind, all] of kinds) say(row(`${name}: ${kind}`, all, isStrong));
    say(row(`**${name}**`, pairs, isStrong));
  }
}

function row(name: string, pairs: readonly Pair[], isStrong: (pair: Pair) => boolean): string {
  const supported = pairs.filter((pair) => pair.isSupported);
  const others = pairs.filter((pair) => !pair.isSupported);
  const right = supported.filter(isStrong).length;
  const wrong = others.filter(isStrong).length;
  const share = (part: number, of: number): string => (of === 0 ? "–" : (part / of).toFixed(3));
  return (
    `| ${name} | ${pairs.length} | ${share(right, supported.length)} | ${share(wrong, others.length)} | ` +
    `${share(right, right + wrong)} |`
  );
}

function lines<T>(path: string): T[] {
  return readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as T);
}

/** The same for each run. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
}

export function pairsOf(dir: string): Pair[] {
  const corpus = new Map(
    lines<{ _id: string; title: string; text: string }>(join(dir, "corpus.jsonl")).map(
      ({ _id, title, text }) => [_id, title === "" ? text : `# ${title}\n\n${text}`],
    ),
  );
  const queries = new Map(
    lines<{ _id: string; text: string }>(join(dir, "queries.jsonl")).map(({ _id, text }) => [_id, text]),
  );
  const answersPath = join(dir, "answers.jsonl");
  const answers = existsSync(answersPath)
    ? new Map(
        lines<{ _id: string; answers: string[] }>(answersPath).map(({ _id, answers: [first] }) => [
          _id,
          first,
        ]),
      )
    : undefined;
  const relevant = readFileSync(join(dir, "qrels/test.tsv"), "utf8")
    .trim()
    .split("\n")
    .slice(1)
    .map((line) => line.split("\t") as [string, string]);
  const random = randomOf(21);
  const similar = overlapIn(corpus);
  const step = Math.max(1, Math.floor(relevant.length / PAIRS_MAX));
  return relevant
    .filter((_, index) => index % step === 0)
    .flatMap(([query, document]) => {
      const passage = corpus.get(document);
      const question = queries.get(query);
      if (passage === undefined || question === undefined) return [];
      const answer = answers === undefined ? undefined : answers.get(query);
      const statement = answer === undefined ? question : `${question} ${answer}`;
      const other = similar(statement, document);
      return [
        { statement, passage, isSupported: true, kind: "people's words" },
        { statement, passage: corpus.get(other)!, isSupported: false, kind: "people's words" },
        ...ofSentence(passage, corpus.get(other)!, random),
      ];
    });
}

/**
 * Finds the passage that shares most with a statement, rare words first, among those that do not carry it.
 */
function overlapIn(corpus: ReadonlyMap<string, string>): (statement: string, besides: string) => string {
  const having = new Map<string, string[]>();
  for (const [id, text] of corpus) for (const word of wordsOf(text)) push(having, word, id);
  return (statement, besides) => {
    const scores = new Map<string, number>();
    for (const word of wordsOf(statement)) {
      const ids = having.get(word) ?? [];
      for (const id of ids) scores.set(id, (scores.get(id) ?? 0) + Math.log(1 + corpus.size / ids.length));
    }
    scores.delete(besides);
    const [best] = [...scores].toSorted((one, other) => other[1] - one[1]);
    return best?.[0] ?? [...corpus.keys()].find((id) => id !== besides)!;
  };
}

function push(lists: Map<string, string[]>, key: string, value: string): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}

function wordsOf(text: string): Set<string> {
  return new Set(cutWords(text).map((token) => token.text.toLowerCase()));
}

/**
 * A sentence of the passage without some of its words; with another number, which the source does not have.
 */
function ofSentence(passage: string, other: string, random: () => number): Pair[] {
  const ranges = sentencesIn(passage, 0, passage.length).filter(([start, end]) => end - start > 40);
  const range = ranges[Math.floor(random() * ranges.length)];
  if (range === undefined) return [];
  const sentence = passage.slice(...range);
  const shorter = dropped(sentence, random);
  const pairs: Pair[] = [
    { statement: shorter, passage, isSupported: true, kind: "words dropped" },
    { statement: shorter, passage: other, isSupported: false, kind: "words dropped" },
  ];
  const changed = sentence.replace(/\d+/, (number) => String(Number(number) * 7 + 13));
  if (changed !== sentence)
    pairs.push({ statement: changed, passage, isSupported: false, kind: "another number" });
  return pairs;
}

/** Text without spaces loses characters in the place of words; numbers stay. */
function dropped(sentence: string, random: () => number): string {
  const parts = sentence.includes(" ") ? sentence.split(/(?<= )/) : Array.from(sentence);
  return parts.filter((part) => /\d/.test(part) || random() > DROPPED).join("");
}
