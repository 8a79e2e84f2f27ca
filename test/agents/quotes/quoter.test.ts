import { expect, test, vi } from "vitest";
import { createCitationFilter } from "../../../src/agents/citations.ts";
import { createQuoter } from "../../../src/agents/quotes/quoter.ts";
import { createSecondLook, type SecondLook } from "../../../src/agents/quotes/second-look.ts";
import { createSources } from "../../../src/agents/sources.ts";

const TEXTS = [
  "Costs fell. Revenue grew by 12 percent over the last year.",
  "The turbine needs oil in spring. The turbine needs oil in autumn.",
];

function answering(options: { requiresSupport?: boolean; secondLook?: SecondLook; texts?: string[] } = {}) {
  const { requiresSupport = false, secondLook, texts = TEXTS } = options;
  const sources = createSources();
  sources.add(
    texts.map((text, index) => ({
      chunk_id: `chunk-${index}`,
      document_id: "document",
      document_name: "report.pdf",
      chunk_index: index,
      page: null,
      text,
    })),
  );
  const quoter = createQuoter(sources, { requiresSupport, secondLook });
  const filter = createCitationFilter(sources, quoter);
  return {
    quoter,
    filter,
    write: (answer: string) => filter.write(answer) + filter.end(),
    quotes: async () =>
      (await quoter.end()).map(({ index, quote }) => quote && texts[index - 1]!.slice(...quote)),
  };
}

test("each source of a mark has its quote, in the order of the marks", async () => {
  const { write, quotes } = answering();
  write("The turbine needs oil in autumn [2]. Revenue grew by 12 percent [1, 2].");
  expect(await quotes()).toEqual([
    "The turbine needs oil in autumn.",
    "Revenue grew by 12 percent over the last year.",
    null,
  ]);
});

test("nothing is read before the piece with the mark has been passed on", () => {
  const { write } = answering({ texts: ["x".repeat(100)] });
  const normalize = vi.spyOn(Intl.Segmenter.prototype, "segment");
  try {
    write("xx [1]");
    // The sentence of the statement alone.
    expect(normalize.mock.calls.map(([text]) => text.length)).toEqual([2]);
  } finally {
    normalize.mockRestore();
  }
});

test("the first thousand sources of marks have quotes", async () => {
  const { write, quoter } = answering();
  write("Revenue grew by 12 percent [1]. ".repeat(1_200));
  expect(await quoter.end()).toHaveLength(1_000);
});

test("where support is required, each mark loses the sources that do not support it", async () => {
  const { write, quoter, filter } = answering({ requiresSupport: true });
  await quoter.prepare("[1, 2]");
  expect(write("Revenue grew by 12 percent [1, 2]. It grew by 99 percent [1]. So it is [2].")).toBe(
    "Revenue grew by 12 percent [1]. It grew by 99 percent. So it is.",
  );
  expect(quoter.removed).toBe(3);
  expect(filter.cited().map(({ index }) => index)).toEqual([1]);
  expect(filter.marks()).toEqual([{ indexes: [1], start: 27, end: 30 }]);
});

test("a mark without a statement before it has no quote and is weak", async () => {
  const { write, quoter } = answering();
  write("[1] says so.");
  expect(await quoter.end()).toMatchObject([{ quote: null, support: "weak", statement: undefined }]);
});

/** Texts that name autumn are near to each other. */
const embed = async (texts: readonly string[]) =>
  texts.map((text) => Float32Array.from(/autumn|leaves/.test(text) ? [1, 0] : [0, 1]));

test("a second look at the meaning decides between quotes with the same words", async () => {
  const secondLook = vi.fn<SecondLook>(createSecondLook({ embed }));
  const { write, quotes } = answering({ secondLook });
  write("When leaves fall the turbine needs oil [2]. Revenue grew by 12 percent [1].");
  await vi.waitFor(() => expect(secondLook).toHaveBeenCalled());
  await Promise.all(secondLook.mock.results.map(({ value }) => value as Promise<unknown>));
  expect(await quotes()).toEqual([
    "The turbine needs oil in autumn.",
    "Revenue grew by 12 percent over the last year.",
  ]);
  // Words alone were sure of the other mark.
  expect(secondLook).toHaveBeenCalledTimes(1);
});

test("the end of an answer does not wait for a second look", async () => {
  const { write, quotes } = answering({ secondLook: () => new Promise(() => undefined) });
  write("The turbine needs oil [2].");
  expect(await quotes()).toEqual(["The turbine needs oil in spring."]);
});

test("a second look keeps the choice of words if the model fails or has no vector", async () => {
  const choice = { quote: [0, 2] as const, support: "strong" as const, coverage: 1, rivals: [] };
  const doubtful = { ...choice, rivals: [{ ...choice, quote: [3, 5] as const }] };
  const failing = createSecondLook({ embed: () => Promise.reject(new Error("The model has ended.")) });
  expect(await failing("ab", "ab cd", doubtful)).toBe(doubtful);
  const empty = createSecondLook({ embed: async (texts) => texts.map(() => null) });
  expect(await empty("ab", "ab cd", doubtful)).toBe(doubtful);
});
