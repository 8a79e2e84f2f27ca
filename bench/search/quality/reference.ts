/** What a search engine of words alone reaches on a collection: bm25s over whole documents. */
import { analyze } from "../../../src/search/text/analyzer.ts";
import { SNOWBALL } from "../../../src/search/text/stems.ts";
import { askPython } from "../python.ts";
import { type Collection, textOf } from "./collection.ts";
import { meanOf, measure } from "./measures.ts";

const { sl: _isMissing, ...shared } = SNOWBALL;
/** Snowball's names of the languages that PyStemmer has a stemmer for. */
const STEMMERS: Readonly<Record<string, string>> = { ...shared, hi: "hindi" };

/** Documents that are looked at to know the language of all. */
const TELLING = 50;

export interface Reference {
  readonly ndcg: number;
  readonly versions: string;
  /** False if the collection's language has no stemmer, so that words count as they are written. */
  readonly isStemmed: boolean;
}

/** The language of most documents, by ISO 639-1. */
function languageOf({ corpus }: Collection): string {
  const languages = corpus.slice(0, TELLING).map((entry) => analyze(textOf(entry)).language);
  const counted = [...Map.groupBy(languages, (language) => language)];
  return counted.toSorted(([, one], [, other]) => other.length - one.length)[0]?.[0] ?? "und";
}

/** @param python one that has bm25s and PyStemmer */
export async function askReference(python: string, collection: Collection): Promise<Reference> {
  const { corpus, questions } = collection;
  const language = languageOf(collection);
  const { versions, is_stemmed, rankings } = (await askPython(python, "bm25s-reference.py", {
    documents: corpus.map(textOf),
    queries: questions.map(({ text }) => text),
    language,
    stemmer: STEMMERS[language] ?? null,
  })) as { versions: string; is_stemmed: boolean; rankings: number[][] };
  const measured = rankings.map((ranking, at) =>
    measure(
      ranking.map((place) => corpus[place]!._id),
      questions[at]!.grades,
    ),
  );
  return { ndcg: meanOf(measured, "ndcg"), versions, isStemmed: is_stemmed };
}
