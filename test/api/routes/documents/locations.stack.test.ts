/** Where text units, chunks and hits stand: in the text that the API answers, and in the file. */
import { describe, expect, test } from "vitest";
import { CHUNKER_NAMES } from "../../../../src/chunkers/index.ts";
import { PARSER_VERSION } from "../../../../src/parsers/version.ts";
import type { Answer } from "../../../support/clients/client.ts";
import { documentClient } from "../../../support/clients/document-client.ts";
import { makeDocx } from "../../../support/files/office.ts";
import { makePdf } from "../../../support/files/text.ts";
import { onSharedStack } from "../../../support/stack/shared-stack.ts";
import { until } from "../../../support/until.ts";

const { stack, tenants } = onSharedStack();
const { editor, put, end, reprocess, hits, rows } = documentClient({ stack, tenants });

const sentence = (about: string, number: number): string =>
  `The ${about} of number ${number} was counted by ${number * 7} observers who wrote it down.`;
const many = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));
const HEAD = ["| Item | Count |", "| --- | --- |"];

const MARKDOWN = [
  "# Field notes 🦊",
  "𝒜 fox 🦊 ran. ".repeat(40).trim(),
  "## Counts",
  [...HEAD, ...many(30, (index) => `| ${sentence("hare", index)} | ${index} |`)].join("\n"),
  "```ts\nconst foxes = 1;\n```",
  many(12, (index) => `- ${sentence("owl", index)}`).join("\n"),
].join("\n\n");
const CSV = ["Item,Count", ...many(40, (index) => `${sentence("hare", index)},${index}`)].join("\n");
const TEXT = many(25, (index) => sentence("wren", index)).join("\n\n");
const HTML = `<h1>Birds</h1>${many(20, (index) => `<p>${sentence("gull", index)}</p>`).join("")}`;
/** More pages than one part of a document has, with a running header. */
const PAGES = many(60, (index) => [
  { text: "Annual report of the survey", y: 760 },
  ...many(4, (line) => ({ text: sentence("tern", index * 4 + line), y: 600 - line * 40 })),
  { text: `${index + 1}`, y: 30 },
]);

const DOCUMENTS: Record<string, () => Promise<string | Uint8Array<ArrayBuffer>>> = {
  "notes.md": async () => MARKDOWN,
  "counts.csv": async () => CSV,
  "wrens.txt": async () => TEXT,
  "birds.html": async () => HTML,
  "plan.docx": async () => new Uint8Array(await makeDocx()),
  "report.pdf": async () => new Uint8Array(makePdf(PAGES)),
};

async function all(path: string): Promise<Answer["body"][]> {
  const items: Answer["body"][] = [];
  for (let page = 1; ; page++) {
    const { body } = await editor("GET", `${path}?limit=1000&page=${page}`);
    items.push(...body.items);
    if (page >= body.total_pages) return items;
  }
}

const written = (text: string): string => text.replace(/\s+/g, "");
/** Without the heads of tables, which chunks repeat. */
const withoutHeads = (text: string): string => written(text).replaceAll(/\|Item\|Count\|\|---\|---\|/g, "");

/** The document's text in [start, end), without running headers. */
function ownText(units: readonly Answer["body"][], { start, end }: { start: number; end: number }): string {
  return units
    .filter((unit) => unit.repeats !== true)
    .map(({ text, start: from }) => text.slice(Math.max(0, start - from), Math.max(0, end - from)))
    .join("\n\n");
}

/** What differs between chunkers is tested without a server. */
const OF_UNITS_AND_OF_TOKENS = ["page_based", "fixed_tokens"] as const;

describe.each(Object.entries(DOCUMENTS))("%s", (name, content) => {
  test("units and chunks have their offsets in the Markdown, and places in the file", async () => {
    const { id } = await put(await content(), name);
    for (const chunker_name of name === "notes.md" ? CHUNKER_NAMES : OF_UNITS_AND_OF_TOKENS)
      for (const overlap_tokens of name === "report.pdf" ? [0, 15] : [15]) {
        const chunker_config = { max_tokens: 70, overlap_tokens };
        expect((await reprocess(id, { chunker_name, chunker_config })).status).toBe(202);
        expect((await end(id)).processing_state.pipeline_status).toBe("completed");
        const markdown: string = (await editor("GET", `/data/${id}/text?format=markdown`)).body;
        const units = await all(`/data/${id}/text`);
        for (const unit of units) expect(markdown.slice(unit.start, unit.end)).toBe(unit.text);
        expect(units.some((unit) => unit.repeats === true)).toBe(["report.pdf", "plan.docx"].includes(name));
        const chunks = await all(`/data/${id}/chunks`);
        for (const chunk of chunks)
          expect(withoutHeads(ownText(units, chunk))).toBe(withoutHeads(chunk.text));
        for (const item of [...units, ...chunks]) {
          expect(item.locations).not.toEqual([]);
          expect(item).not.toHaveProperty("places");
        }
        expect(chunks.every(({ locations }) => locations !== undefined)).toBe(true);
      }
  }, 120_000);
});

test("a hit has the offsets and locations of its chunk", async () => {
  const { id } = await put(CSV, "searched.csv");
  const chunks = await all(`/data/${id}/chunks`);
  const found = (await hits(id, "hare of number 33")).results;
  const byId = new Map(chunks.map((chunk) => [chunk.id, chunk]));
  expect(found.length).toBeGreaterThan(0);
  for (const hit of found) {
    const { start, end: until, locations } = byId.get(hit.chunk_id);
    expect(hit).toMatchObject({ start, end: until, locations });
    expect(hit).not.toHaveProperty("places");
  }
});

test("the range of rows that begin a chunk is apart from that of their repeated head", async () => {
  const { id } = await put(CSV, "ranges.csv");
  const chunks = await all(`/data/${id}/chunks`);
  const [first, second] = chunks;
  const rowsOf = (text: string): number[] =>
    [...text.matchAll(/of number (\d+)/g)].map(([, number]) => Number(number) + 2);
  expect(first.locations).toEqual([{ range: `A1:B${Math.max(...rowsOf(first.text))}` }]);
  expect(second.locations).toEqual([
    { range: "A1:B1" },
    { range: `A${Math.min(...rowsOf(second.text))}:B${Math.max(...rowsOf(second.text))}` },
  ]);
});

test("what an older version read has no locations until it is found by its parser's version and reprocessed", async () => {
  const { id } = await put(TEXT, "before.txt");
  const filters = {
    space_id__exact: tenants.spaces.research,
    "processing_state.parser_version__isnull": true,
  };
  const unread = async (): Promise<string[]> => {
    const { body } = await editor("POST", "/data/search", { filters });
    return body.items.map((item: { id: string }) => item.id);
  };
  const version = async () => (await editor("GET", `/data/${id}`)).body.processing_state.parser_version;
  expect(await version()).toBe(PARSER_VERSION);
  expect(await unread()).toEqual([]);
  await rows(
    "update chunks set start_offset = null, end_offset = null, places = null where document_id = $1",
    [id],
  );
  await rows("update pipeline_runs set parser_version = null where document_id = $1", [id]);
  const chunks = await all(`/data/${id}/chunks`);
  for (const item of [...chunks, ...(await hits(id, "wren")).results])
    for (const field of ["start", "end", "locations"]) expect(item).not.toHaveProperty(field);
  expect(await unread()).toEqual([id]);
  expect(await version()).toBeUndefined();

  expect((await editor("POST", "/data/batch-reprocess", { filters })).body.accepted).toBe(1);
  await until("it is reprocessed", async () => (await unread()).length === 0);
  await until("it says who read it", async () => (await version()) === PARSER_VERSION);
  const older = { ...filters, "processing_state.parser_version__lt": PARSER_VERSION };
  expect((await editor("POST", "/data/search", { filters: older })).body.items).toEqual([]);
});
