import { expect, test } from "vitest";
import { createCitationFilter } from "../../../src/agents/citations.ts";
import { createSources } from "../../../src/agents/sources.ts";
import { extractSentences } from "../../../src/models/chat/extract-sentences.ts";
import { analyze, analyzeQuery } from "../../../src/search/text/analyzer.ts";

const READER = { analyze, analyzeQuery };

function quotes(question: string, ...texts: string[]): string[] {
  const sources = texts.map((text, at) => ({ index: at + 1, name: `file ${at + 1}.md`, text }));
  return extractSentences(question, sources, { maxQuotes: 3, reader: READER }).map(
    ({ index, sentence }) => `${sentence} [${index}]`,
  );
}

/** The numbers that the service takes for citations in an answer of these quotes. */
function cited(answer: readonly string[]): number[] {
  const sources = createSources();
  sources.add(
    ["a", "b", "c"].map((chunk_id) => ({
      chunk_id,
      document_id: "d",
      document_name: "a.md",
      chunk_index: 0,
      page: null,
      text: "",
    })),
  );
  const filter = createCitationFilter(sources);
  filter.write(answer.join("\n\n"));
  filter.end();
  return filter.cited().map(({ index }) => index);
}

const DUCKS = [
  "| Bird | Lays eggs in | Eggs |",
  "|---|---|---|",
  "| Mallard duck | April | 8 to 13 |",
  "| Mute swan | March | 5 to 8 |",
].join("\n");

test("a question about ducks gets the row of ducks, not the names of columns and not another paper", () => {
  expect(
    quotes(
      "How many eggs do ducks lay?",
      `Birds of the lake\n\n${DUCKS}`,
      "We asked how many tokens a model needs. Many models lay their answers out in tables.",
    ),
  ).toEqual(["Bird: Mallard duck; Lays eggs in: April; Eggs: 8 to 13 [1]"]);
});

test("names of columns and the row of dashes are never quoted, even where nothing else is", () => {
  expect(quotes("Which bird lays eggs?", DUCKS.split("\n").slice(0, 2).join("\n"))).toEqual([]);
  expect(quotes("Which bird lays eggs?", DUCKS.split("\n").slice(0, 1).join("\n"))).not.toContainEqual(
    expect.stringContaining("|"),
  );
  expect(quotes("birds eggs", "|---|---|")).toEqual([]);
});

test("words that only the names of columns have bring no row", () => {
  expect(quotes("Which bird lays eggs?", DUCKS)).toEqual([]);
});

test("the capital of a country is not answered from a company's capitalization", () => {
  const report =
    "The market capitalization of the company rose to 4 billion. Its share capital is unchanged. " +
    "Capital was raised twice.";
  expect(quotes("What is the capital of Mongolia?", report)).toEqual([]);
  expect(quotes("What is the share capital?", report)).toContain("Its share capital is unchanged. [1]");
});

test("one word of several says nothing, however rare it is among the sentences", () => {
  const others = "The plant was painted. New machines came in spring. Nobody left. The year was good.";
  expect(quotes("What is the capital of Mongolia?", `${others} Its share capital is unchanged.`)).toEqual([]);
  expect(quotes("Who won in 2024?", `${others} In 2024 the plant was sold.`)).toEqual([]);
});

test("two words of many, of which the sentences are full, say nothing", () => {
  const question = "Which new pump cools the reactor core during long winter storms in northern Norway?";
  const text = "The new pump is red. A new pump is blue. Each new pump costs little. New is every pump.";
  expect(quotes(question, text)).toEqual([]);
  expect(quotes("Which new pump is blue?", text)[0]).toBe("A new pump is blue. [1]");
});

test("function words are not taken for the abbreviations that they spell", () => {
  expect(quotes("who is it?", "The WHO and its IT moved to a new office.")).toEqual([]);
});

test("a word of another language's stem is another word", () => {
  expect(quotes("Wie heißt das Universum?", "Die Universität liegt am Fluss.")).toEqual([]);
});

test.each([
  ["closed", "Install it so:\n\n```sh\n$ npm install holdfast\n```\n\nThen open the page."],
  ["not closed", "Install it so:\n\n```sh\n$ npm install holdfast"],
  ["of waves", "~~~\nnpm install holdfast\n~~~"],
  ["in a line", "Run `npm install holdfast`` to begin."],
])("a fence %s is not quoted, and the mark behind its code is a citation", (_kind, text) => {
  const answer = quotes("How to npm install holdfast?", text);
  expect(answer[0]).toMatch(/npm install holdfast[^`~$]* \[1\]$/);
  expect(answer.join()).not.toContain("`");
  expect(cited(answer)).toEqual([1]);
});

test("numbers in brackets of a document cite nothing", () => {
  const answer = quotes(
    "What did the trial with aspirin show?",
    "The trial [2, 3] with aspirin showed a [1] gain.",
  );
  expect(answer).toHaveLength(1);
  expect(cited(answer)).toEqual([1]);
  expect(cited(answer.map((quote) => quote.replace(/\[1\]$/, "")))).toEqual([]);
});

test("a quote is a plain line without marks of Markdown and HTML", () => {
  const text =
    "> - **Pumps** need <b>oil</b> of [grade\u00a05](https://oil.example/5) *each week*,\n> at $5 a litre; `snake_case` and 2 * 3 stay.";
  expect(quotes("Which oil do pumps need?", text)).toEqual([
    "Pumps need oil of grade 5 each week, at $5 a litre; snake_case and 2 * 3 stay. [1]",
  ]);
});

test("a row keeps what its cells say, without pipes, and empty cells are left out", () => {
  const table = "| Part | Oil | Note |\n|:--|--:|---|\n| **Pump** \\| motor | 5 l | |\n| Fan | none | new |";
  expect(quotes("How much oil does the pump motor take?", table)).toEqual([
    "Part: Pump | motor; Oil: 5 l [1]",
  ]);
});

test("a row that is too long for a quote is cut between cells, and each part begins with its first cell", () => {
  const columns = Array.from({ length: 40 }, (_, at) => `month ${at}`);
  const table = [
    ["pump", ...columns],
    ["---", ...columns.map(() => "---")],
    ["Aeolus", ...columns.map((_, at) => `${at + 100} litres`)],
  ];
  const text = table.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
  const [answer] = quotes("How much did the Aeolus take with 139 litres?", text);
  expect(answer).toMatch(/^pump: Aeolus; .*month 39: 139 litres \[1\]$/);
  expect(answer!.length).toBeLessThan(420);
});

test("short lines without full stops are quoted, unless a paragraph is below", () => {
  const lines = "Spare parts\n\nPump oil each week\n\nFan belt each year";
  expect(quotes("pump oil", lines)).toEqual(["Pump oil each week [1]"]);
  expect(quotes("pump oil", "Pump oil each week\n\nIt is filled in at the top of the pump.")).toEqual([
    "It is filled in at the top of the pump. [1]",
  ]);
});

test("a table without outer strokes is quoted by rows with their columns", () => {
  const text = "pump | oil\n--- | ---\nblue pump | 5 l\nred fan | none\n\nThe end | of it.";
  expect(quotes("How much oil does the blue pump take?", text)).toEqual(["pump: blue pump; oil: 5 l [1]"]);
});

test("a table without a row of dashes is quoted by its cells", () => {
  expect(quotes("How much oil does the pump take?", "| pump oil | 5 l |\n| fan belt | 2 m |")).toEqual([
    "pump oil; 5 l [1]",
  ]);
});

test("the same sentence in two sources is quoted once, and one within another is not repeated", () => {
  const sentence = "The pump needs oil each week.";
  expect(
    quotes("When does the pump need oil?", `${sentence} Paint it.`, `New: ${sentence}`, `* ${sentence}`),
  ).toEqual([`${sentence} [1]`]);
});

test("at most three are quoted", () => {
  const all = ["left", "right", "upper", "lower", "spare"].map(
    (side) => `The ${side} pump needs oil each week.`,
  );
  expect(quotes("When does the pump need oil?", all.join("\n\n"))).toHaveLength(3);
});

test("a sentence beside the other words of the question comes before one that is alone", () => {
  const answer = quotes(
    "How heavy is the Aeolus turbine?",
    "The Aeolus is a turbine for small farms. It is 4 t heavy and stands alone.",
    "A heavy coat is wanted in the workshop. Gloves too.",
  );
  expect(answer.join()).toContain("It is 4 t heavy");
  expect(answer.join()).not.toContain("coat");
});

test("what a document is about need not be said again in the sentence that answers", () => {
  const text = "The Aeolus 4 is a turbine. It has no gears.\n\n## Data\n\n| property | value |\n|---|---|\n";
  const sources = [{ index: 1, name: "aeolus-4-manual.md", text: `${text}| highest pressure | 16 bar |` }];
  const question = "What is the highest pressure of the Aeolus 4?";
  expect(extractSentences(question, sources, { maxQuotes: 1, reader: READER })).toEqual([
    { index: 1, sentence: "property: highest pressure; value: 16 bar" },
  ]);
});

test("headings and questions of the document are not answers, but lead to them", () => {
  expect(
    quotes(
      "How often is the filter changed?",
      "# Filter changed how often\n\nEvery 18 months, or after 9,000 hours of filter use.",
    ),
  ).toEqual(["Every 18 months, or after 9,000 hours of filter use. [1]"]);
  expect(
    quotes(
      "How long does the warranty last?",
      "How long does the warranty last? The warranty lasts two years.",
    ),
  ).toEqual(["The warranty lasts two years. [1]"]);
});

test("an abbreviation does not end a sentence", () => {
  expect(quotes("Who founded the clinic?", "The clinic was founded by Dr. J. Miller in 1920.")).toEqual([
    "The clinic was founded by Dr. J. Miller in 1920. [1]",
  ]);
});

test("one word is enough for a question of one word, however many sources have it", () => {
  const texts = Array.from(
    { length: 8 },
    (_, at) => `Warranty number ${at} holds two years. Paint is green.`,
  );
  expect(quotes("warranty", ...texts)).toHaveLength(3);
});

test.each([
  ["", "an empty question"],
  ["who is it?", "a question of function words"],
  ["?!…", "a question without words"],
  ["\u200f\u202e", "marks of direction alone"],
])("%j finds nothing: %s", (question) => {
  expect(quotes(question, "Who is it? It is who we are.", DUCKS)).toEqual([]);
});

test("no sources, empty sources and sources of marks alone have no answer", () => {
  expect(quotes("pump oil")).toEqual([]);
  expect(quotes("pump oil", "", "\n\n", "```\n```", "# \n---\n***\n| | |\n|-|-|\n| | |")).toEqual([]);
});

test("each language of a mixed question and mixed sources is compared by its own words", () => {
  expect(
    quotes(
      "保修期 Garantie pump?",
      "Die Garantie der pump gilt zwei Jahre.",
      "泵的保修期为两年。",
      "مدة الضمان سنتان.",
    ),
  ).toEqual(expect.arrayContaining(["Die Garantie der pump gilt zwei Jahre. [1]"]));
});

test("marks of direction do not reach the text behind a quote, and emoji stay", () => {
  const [answer] = quotes("ما هي مدة الضمان؟", "\u202e\u2067مدة الضمان سنتان 🎉🎉\u200f.");
  expect(answer).toContain("🎉🎉");
  expect(answer).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
  expect(cited([answer!])).toEqual([1]);
});

test("of one giant line the part that answers is quoted, cut between words and not within a character", () => {
  const filler = "and many more words ".repeat(4_000);
  const [answer] = quotes("How long does the warranty last?", `${filler} warranty lasts two years ${filler}`);
  expect(answer).toMatch(/^….*warranty lasts two years.*… \[1\]$/);
  expect(answer!.length).toBeLessThan(420);
  const whole = quotes("xyz zz", `xyz🎉zz${"🎉".repeat(500)}`);
  expect(whole).toHaveLength(1);
  expect(whole[0]!.isWellFormed()).toBe(true);
});
