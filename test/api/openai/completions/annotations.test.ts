import { expect, test } from "vitest";
import type { Citation } from "../../../../src/agents/sources.ts";
import { urlCitations } from "../../../../src/api/openai/completions/annotations.ts";

const citation = (index: number): Citation => ({
  index,
  chunk_id: `chunk-${index}`,
  document_id: `document-${index}`,
  document_name: `${index}.pdf`,
  chunk_index: index,
  page: null,
  text: "Text.",
});

test("each mark has one annotation a source, where it is, with an address of the chunk", () => {
  const marks = [1, 2, 7].map((index) => ({ index, start: index * 10, end: index * 10 + 3 }));
  const [first, ...others] = urlCitations(
    { citations: [citation(1), citation(2)], marks },
    "https://holdfast.example",
  );
  expect(first).toEqual({
    type: "url_citation",
    url_citation: {
      start_index: 10,
      end_index: 13,
      title: "1.pdf",
      url: "https://holdfast.example/v1/data/document-1/chunks?page=2&limit=1",
    },
  });
  expect(others.map(({ url_citation: { title } }) => title)).toEqual(["2.pdf"]);
});

test("the marks of an answer say what is quoted for them, and for which sentence", () => {
  const evidence = {
    quote: "Te",
    quote_start: 0,
    quote_end: 2,
    support: "strong" as const,
    receipt: "a.b.c",
    salt: "c2FsdA",
    sentence_start: 90,
    sentence_end: 100,
  };
  const marks = [{ index: 1, start: 101, end: 104, ...evidence }];
  expect(urlCitations({ citations: [citation(1)], marks }, "https://holdfast.example")).toMatchObject([
    { type: "url_citation", url_citation: { start_index: 101, end_index: 104 }, ...evidence },
  ]);
});
