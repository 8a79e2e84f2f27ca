import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Citation } from "../../../../src/agents/sources.ts";
import { createAnnotationFinder } from "../../../../src/api/turns/answers/annotations.ts";

const citation = (index: number): Citation => ({
  index,
  chunk_id: `chunk-${index}`,
  document_id: `document-${index}`,
  document_name: `${index}.pdf`,
  chunk_index: index,
  page: null,
  text: "Text.",
});

function found(pieces: readonly string[], indexes: readonly number[]) {
  const finder = createAnnotationFinder("https://holdfast.example");
  for (const piece of pieces) finder.write(piece);
  return finder.end({ citations: indexes.map(citation) });
}

test("each mark has one annotation a source, where it is, with an address of the chunk", () => {
  const text = "🦊 In trees [1], near water [2, 1].";
  const annotations = found([text], [1, 2]);
  expect(annotations[0]).toEqual({
    type: "url_citation",
    url_citation: {
      start_index: text.indexOf("[1]"),
      end_index: text.indexOf("[1]") + 3,
      title: "1.pdf",
      url: "https://holdfast.example/v1/data/document-1/chunks?page=2&limit=1",
    },
  });
  expect(annotations.map(({ url_citation: { title } }) => title)).toEqual(["1.pdf", "2.pdf", "1.pdf"]);
  expect(
    annotations.slice(1).map(({ url_citation: at }) => text.slice(at.start_index, at.end_index)),
  ).toEqual(["[2, 1]", "[2, 1]"]);
});

test("brackets in code, and those that cite nothing, are none", () => {
  expect(found(["`a[1]` and [7]"], [1])).toEqual([]);
  expect(found(["No marks at all."], [])).toEqual([]);
});

describe("in a stream", () => {
  test("the same is found however the text is cut", () => {
    const word = fc.constantFrom("word ", "[1]", " [2, 3]", "`x[1]`", "\n", "🦊", "[", "1", "]");
    fc.assert(
      fc.property(fc.array(word), fc.nat(), (words, seed) => {
        const text = words.join("");
        const cut = text.length === 0 ? 0 : seed % text.length;
        expect(found([text.slice(0, cut), text.slice(cut)], [1, 2, 3])).toEqual(found([text], [1, 2, 3]));
      }),
    );
  });
});

test("the marks of an answer say where they are, what is quoted for them, and for which sentence", () => {
  const finder = createAnnotationFinder("https://holdfast.example");
  // What a client gets that comes back behind the first pieces.
  finder.write("rest [1].");
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
  const [annotation, ...others] = finder.end({
    citations: [citation(1)],
    marks: [{ index: 1, start: 101, end: 104, ...evidence }],
  });
  expect(others).toEqual([]);
  expect(annotation).toMatchObject({
    type: "url_citation",
    url_citation: { start_index: 101, end_index: 104 },
    ...evidence,
  });
});
