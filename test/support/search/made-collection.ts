/** Makes collections with known answers, the same in each run, to measure the quality of search on. */
import { chunkerNamed } from "../../../src/chunkers/index.ts";
import type { Tokenizer } from "../../../src/chunkers/chunk.ts";
import type { MadeLanguage } from "./made-languages.ts";

export interface MadeCollection {
  /** The chunks of each document. */
  readonly documents: readonly (readonly string[])[];
  /** Questions with the place of the one document that answers. */
  readonly questions: readonly { readonly text: string; readonly answer: number }[];
}

/** Small, so that a document of three paragraphs has several chunks and little has to be embedded. */
const TOKENS_OF_CHUNK = 64;

const filled = (template: string, [told, asked]: readonly [string, string], number: number): string =>
  template.replace("{s}", told).replace("{a}", asked).replace("{n}", String(number));

/**
 * One short document for each subject and fact, and one long document for each subject and late fact. So a
 * document has as neighbours those of the same subject, which share its name, and those of the same fact,
 * which share all other words: only both together tell which is meant.
 */
export function makeCollection(language: MadeLanguage, tokenizer: Tokenizer): MadeCollection {
  const documents: (readonly string[])[] = [];
  const questions: { text: string; answer: number }[] = [];
  const chunksOf = (paragraphs: readonly string[]): string[] =>
    chunkerNamed("recursive")(
      paragraphs.map((text) => ({ type: "paragraph", text, page: null, heading_path: [] })),
      { maxTokens: TOKENS_OF_CHUNK, overlapTokens: 0 },
      tokenizer,
    ).map((chunk) => chunk.text);
  language.subjects.forEach((subject, at) => {
    const add = (paragraphs: readonly string[], asked: readonly string[]): void => {
      const number = 3 + ((documents.length * 7 + at) % 40);
      for (const question of asked)
        questions.push({ text: filled(question, subject, number), answer: documents.length });
      documents.push(chunksOf(paragraphs.map((paragraph) => filled(paragraph, subject, number))));
    };
    for (const { told, asked } of language.facts) add([told], asked);
    for (const { told, asked } of language.late) add([...language.paragraphs, told], asked);
  });
  return { documents, questions };
}
