/** Holds what the pages of the guide say beside their snippets: every block is run, and tables are whole. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { CHUNKER_NAMES, chunkerNamed } from "../../../src/chunkers/index.ts";
import { ERROR_REASONS } from "../../../src/domain/errors.ts";
import { parseMarkdown } from "../../../src/parsers/text/markdown.ts";
import { blocksOf, isLanguage, isOutput, PAGES, readPage } from "../../support/docs/guide-pages.ts";
import { modelTokenizer } from "../../support/files/tokenizer.ts";

const DOCS = join(import.meta.dirname, "../../../docs");

describe.each(PAGES)("%s", (page) => {
  const blocks = blocksOf(page);

  test("has no block that is neither run nor says why not", () => {
    const strange = blocks.filter(
      (block) => block.notRun === null && !isLanguage(block.language) && !isOutput(block),
    );
    expect(strange.map(({ line, language }) => `line ${line}: ${language}`)).toEqual([]);
  });

  test("shows outputs of code alone", () => {
    const lost = blocks.filter(
      (block) =>
        isOutput(block) &&
        block.notRun === null &&
        !blocks.some(
          (other) => other.group < block.group && isLanguage(other.language) && other.notRun === null,
        ),
    );
    expect(lost.map(({ line }) => line)).toEqual([]);
  });
});

describe("errors", () => {
  const page = readPage("errors");
  const linked = (text: string): string[] =>
    [...text.matchAll(/\[(\w+)\]\(\/docs\/errors\/(\w+)\)/g)].map(([, name, target]) => {
      expect(target).toBe(name);
      return name!;
    });
  const rows = [...page.matchAll(/^\| (\d{3}) \| (\[.*) \|$/gm)].map(
    ([, status, codes]) => [Number(status), linked(codes!)] as const,
  );

  test("has each code once, with its status or among those of documents", () => {
    const all = page.slice(page.indexOf("## All codes"));
    expect(linked(all).toSorted()).toEqual(Object.keys(ERROR_REASONS).toSorted());
    const shown = rows.flatMap(([status, codes]) => codes.map((code) => [code, status]));
    const statuses: Readonly<Record<string, number>> = ERROR_REASONS;
    expect(shown).toEqual(shown.map(([code]) => [code, statuses[code!]]));
    expect(shown.length).toBeGreaterThan(60);
  });
});

test("limits has the default of each setting that it names", () => {
  const settings = readFileSync(join(DOCS, "settings.md"), "utf8");
  const defaults = new Map(
    [...settings.matchAll(/^\| `(\w+)`[^|]* \| (?:`([^`]+)`)?/gm)].map(([, name, value]) => [name!, value]),
  );
  const rows = readPage("limits")
    .split("\n")
    .filter((line) => /^\|.*`[A-Z_]{5,}`/.test(line));
  expect(rows.length).toBeGreaterThan(15);
  const wrong = rows.filter((row) => {
    const name = /`([A-Z_]{5,})`/.exec(row)![1]!;
    expect([...defaults.keys()]).toContain(name);
    const value = defaults.get(name);
    return !new RegExp(value === undefined ? "none|as each key" : `\\b${value}\\b`).test(row);
  });
  expect(wrong).toEqual([]);
});

describe("limits has the bounds of the contract", () => {
  const page = readPage("limits");
  const { components } = JSON.parse(readFileSync(join(DOCS, "openapi.json"), "utf8")) as {
    components: { schemas: Record<string, { properties: Record<string, any> }> };
  };
  const field = (schema: string, name: string): Record<string, any> => {
    const found = components.schemas[schema]!.properties[name]!;
    return (found["anyOf"] as Record<string, any>[] | undefined)?.[0] ?? found;
  };
  test.each([
    ["documents in `POST /v1/data/status`", "DocumentStatusQuestion", "ids", "maxItems"],
    ["spaces of a search", "HybridSearch", "space_ids", "maxItems"],
    ["`document_ids`, `folder_ids` of a search", "HybridSearch", "document_ids", "maxItems"],
    ["hits of a search", "HybridSearch", "limit", "maximum"],
    ["a search's query", "HybridSearch", "query", "maxLength"],
    ["files of a batch in a vector store", "VectorStoreFileBatchCreate", "file_ids", "maxItems"],
    ["results of a search of a vector store", "VectorStoreSearch", "max_num_results", "maximum"],
    ["messages of a chat", "ChatCompletionRequest", "messages", "maxItems"],
    ["fields in `order_by`", "DocumentSearch", "order_by", "maxItems"],
  ])("%s", (what, schema, name, bound) => {
    const row = page.split("\n").find((line) => line.startsWith(`| ${what} `));
    const number = (field(schema, name)[bound] as number).toLocaleString("en-US");
    expect(row).toMatch(new RegExp(`\\| ${number}(?:\\D|$)`));
  });
});

test("chunkers shows what each chunker makes of its example", () => {
  const blocks = blocksOf("chunkers");
  const { code: example } = blocks.find(({ language }) => language === "md")!;
  const { code: shown } = blocks.find(({ language }) => language === "chunks")!;
  const made = CHUNKER_NAMES.flatMap((name) => {
    const chunks = chunkerNamed(name)(
      parseMarkdown(example).units,
      { maxTokens: 50, overlapTokens: 0 },
      modelTokenizer,
    );
    return [name, ...chunks.map(({ text }) => `  ‖ ${text.replaceAll("\n\n", " ¶ ")}`)];
  });
  expect(shown.split("\n")).toEqual(made);
});
