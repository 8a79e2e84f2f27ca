/** What finds the quotes of an answer's citations, as subjects of the cost test. */
import { createCitationFilter } from "../../../src/agents/citations.ts";
import { readWhole } from "../../../src/agents/quotes/passage.ts";
import { pickQuote } from "../../../src/agents/quotes/pick.ts";
import { createQuoter } from "../../../src/agents/quotes/quoter.ts";
import { createSources } from "../../../src/agents/sources.ts";
import { repeated, type Shape } from "../shape.ts";
import type { Subject } from "./subject.ts";

const PASSAGE = "The turbine turns 12 times. Oil is changed every 18 months, whichever comes first.";
const STATEMENT = "The turbine turns 12 times a minute";
const QUOTE_MAX = 300;

const MARKED: readonly Shape[] = [
  repeated("[1]"),
  repeated("a [1]"),
  repeated("The turbine turns 12 times [1, 2]. "),
  repeated("| turbine [1] "),
  repeated("- turbine [2]\n"),
  repeated("12."),
  repeated("Dr. "),
];
const ROWS: readonly Shape[] = [
  repeated("| turbine | 12 |\n"),
  repeated("| turbine ", "", "|"),
  repeated("|---|\n"),
  repeated("turbine. "),
  repeated("turbine "),
  repeated("12,"),
  repeated("```\n"),
];

/** The sources of a turn whose answer cites both. */
function sourcesOf(text: string) {
  const sources = createSources();
  const passage = { document_id: "d", document_name: "a.md", page: null };
  sources.add([
    { ...passage, chunk_id: "c", chunk_index: 0, text },
    { ...passage, chunk_id: "e", chunk_index: 1, text: PASSAGE },
  ]);
  return sources;
}

function quotedOf(statement: string, passage: string): string {
  const { quote } = pickQuote(statement, readWhole(passage, "a.md"));
  return quote === null ? "" : passage.slice(...quote);
}

const isTooLong = (quote: unknown): string[] =>
  (quote as string).length > QUOTE_MAX ? [`a quote has ${(quote as string).length} characters`] : [];

/** Feeds the filter of an answer's marks with the whole text, and waits for the quotes of all marks. */
const answer = (requiresSupport: boolean, shapes: readonly Shape[]): Subject => ({
  name: `quotes of an answer${requiresSupport ? " that requires support" : ""}`,
  shapes: [...MARKED, ...shapes],
  async run(text) {
    const sources = sourcesOf(PASSAGE);
    const quoter = createQuoter(sources, { requiresSupport });
    const filter = createCitationFilter(sources, quoter);
    const shown = filter.write(text as string) + filter.end();
    return [shown, await quoter.end()];
  },
});

export function quoteSubjects(shapes: readonly Shape[]): Subject[] {
  return [
    ...[false, true].map((requiresSupport) => answer(requiresSupport, shapes)),
    {
      name: "quote from a passage",
      shapes: [...ROWS, ...shapes],
      run: (text) => quotedOf(STATEMENT, text as string),
      faultsOf: isTooLong,
    },
    {
      name: "quote for a statement",
      shapes: [...ROWS, ...shapes],
      run: (text) => quotedOf(text as string, PASSAGE),
      faultsOf: isTooLong,
    },
    {
      name: "quote from a passage that is the statement",
      shapes: [...ROWS, ...shapes],
      run: (text) => quotedOf(text as string, text as string),
      faultsOf: isTooLong,
    },
  ];
}
