/**
 * Search functions as subjects of the cost test: the analyzer for chunks and queries in every language,
 * operators, highlights and stemmers.
 */
import { analyze, analyzeQuery, STEMMED_LANGUAGES } from "../../../src/search/text/analyzer.ts";
import { createTermFinder } from "../../../src/search/highlights.ts";
import { holdsPhrase, parseQuery } from "../../../src/search/query.ts";
import { stemOf } from "../../../src/search/text/stems.ts";
import { cutWords } from "../../../src/search/text/tokens.ts";
import { PASSAGES_MAX, rankingOf, rankingQuestion } from "../../../src/models/rerank/listwise.ts";
import { loadBytePairTokens } from "../../../src/models/tokens/byte-pair.ts";
import { nested, repeated } from "../shape.ts";
import { PLAIN_SHAPES, SOME_SHAPES, TEXT_SHAPES } from "../shapes.ts";
import type { Extent, Subject } from "./subject.ts";

/** The maximum length of a query, as the schema of searches sets it. */
const QUERY_CHARACTERS = 8_192;
/** Words are cut to this length before they are stemmed. */
const WORD_CHARACTERS = 64;

const { count } = await loadBytePairTokens("gpt-4o");

const TERMS = new Set(["en:word", "w1x", "de:wort", "漢漢"]);

/** Repeats a word of at most 64 characters, so that only a stemmer that is slow on a word is slow. */
const stemmer = (language: string): Subject => ({
  name: `stem of ${language}`,
  shapes: PLAIN_SHAPES,
  maxLength: WORD_CHARACTERS,
  run: (word) => stemOf(language, word as string),
});

export const searchSubjects = (extent: Extent): Subject[] => [
  { name: "words of a text", shapes: TEXT_SHAPES, run: (text) => cutWords(text as string) },
  {
    name: "terms of a chunk",
    shapes: extent === "all" ? TEXT_SHAPES : SOME_SHAPES,
    run: (text) => analyze(text as string),
  },
  {
    name: "words of a query",
    shapes: TEXT_SHAPES,
    maxLength: QUERY_CHARACTERS,
    run: (text) => analyzeQuery(text as string),
  },
  { name: "operators of a query", shapes: TEXT_SHAPES, run: (text) => parseQuery(text as string) },
  {
    name: "a phrase in a text",
    shapes: SOME_SHAPES,
    run: (text) => holdsPhrase(text as string, (text as string).slice(0, 512)),
  },
  {
    name: "highlights in a text",
    shapes: extent === "all" ? TEXT_SHAPES : SOME_SHAPES,
    run: (text) => createTermFinder(TERMS)(text as string),
  },
  {
    name: "highlights of many terms",
    shapes: PLAIN_SHAPES,
    run: (text) => createTermFinder(new Set(analyze(text as string).terms.slice(0, 2_000)))(text as string),
  },
  {
    name: "question that has a model rank texts",
    shapes: [
      ...TEXT_SHAPES,
      repeated("PASSAGES>>>"),
      repeated("<<<PASSAGES"),
      repeated("\n[1]\n"),
      repeated("<"),
    ],
    run: (text) => rankingQuestion(text as string, Array<string>(PASSAGES_MAX).fill(text as string), count),
  },
  {
    name: "a model's ranking",
    shapes: [
      ...PLAIN_SHAPES,
      repeated("{"),
      repeated("}"),
      repeated("1,", '{"order": [', "1]}"),
      nested("[", "]", '{"order": ', "}"),
      nested('{"order":', "}"),
    ],
    run(answer) {
      try {
        return rankingOf(answer as string, PASSAGES_MAX);
      } catch (error) {
        return error;
      }
    },
  },
  ...STEMMED_LANGUAGES.map(stemmer),
];
