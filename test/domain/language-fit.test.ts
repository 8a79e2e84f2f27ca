/** The measure of what a model knows, on vectors whose answer follows from how they are made. */
import { describe, expect, test } from "vitest";
import {
  LEAST_PAIRS,
  MOST_PAIRS,
  type Neighbours,
  choosePairs,
  isLanguageKnown,
  languageFit,
  measureAuc,
} from "../../src/domain/language-fit.ts";

/** A vector with these numbers at these places. */
const vector = (length: number, numbers: Readonly<Record<number, number>>): Float32Array =>
  Float32Array.from({ length }, (_, at) => numbers[at] ?? 0);

/** Pairs of as many documents; `make` gives the vector of chunk 0 or 1 of document `at`. */
const pairs = (
  count: number,
  make: (at: number, chunk: number) => Float32Array,
  content: (at: number, chunk: number) => string = (at, chunk) => `${at}/${chunk}`,
): Neighbours[] => {
  const chunkOf = (at: number, chunk: number) => ({
    runNum: at + 1,
    content: content(at, chunk),
    vector: make(at, chunk),
  });
  return Array.from({ length: count }, (_, at): Neighbours => [chunkOf(at, 0), chunkOf(at, 1)]);
};

/** Neighbours have the cosine .92 and all others 0. */
const told = (at: number, chunk: number): Float32Array => vector(200, { [at]: 1, [100 + chunk]: 0.3 });
/** Every cosine is 0. */
const untold = (at: number, chunk: number): Float32Array => vector(200, { [2 * at + chunk]: 1 });

describe("measureAuc", () => {
  test("is 1 if neighbours are nearer than all others", () => {
    expect(measureAuc(pairs(40, told))).toEqual({ auc: 1, pairs: 40 });
  });

  test("is a half if nothing is nearer than anything", () => {
    expect(measureAuc(pairs(40, untold))).toEqual({ auc: 0.5, pairs: 40 });
  });

  test("is 0 if neighbours are farther than all others", () => {
    const opposite = (at: number, chunk: number): Float32Array => vector(200, { [at]: chunk === 0 ? 1 : -1 });
    expect(measureAuc(pairs(40, opposite))).toEqual({ auc: 0, pairs: 40 });
  });

  test("the length of vectors does not matter", () => {
    const long = (at: number, chunk: number): Float32Array =>
      told(at, chunk).map((number) => number * (at + 1));
    expect(measureAuc(pairs(40, long)).auc).toBe(1);
  });

  test("a model that gives all texts one vector is at chance: that is no copy", () => {
    expect(measureAuc(pairs(40, () => vector(4, { 0: 1 })))).toEqual({ auc: 0.5, pairs: 40 });
  });

  test(`is unknown with fewer than ${LEAST_PAIRS} pairs`, () => {
    expect(measureAuc(pairs(LEAST_PAIRS - 1, told))).toEqual({ auc: null, pairs: LEAST_PAIRS - 1 });
    expect(measureAuc(pairs(LEAST_PAIRS, told)).auc).toBe(1);
    expect(measureAuc([])).toEqual({ auc: null, pairs: 0 });
  });

  test("one document has no strangers", () => {
    const chunk = (at: number, one: number) => ({
      runNum: 1,
      content: `${at}/${one}`,
      vector: untold(at, one),
    });
    const alone = Array.from({ length: 40 }, (_, at): Neighbours => [chunk(at, 0), chunk(at, 1)]);
    expect(measureAuc(alone)).toEqual({ auc: null, pairs: 0 });
  });

  test("neighbours of equal text are left out", () => {
    expect(measureAuc(pairs(40, untold, (at) => String(at)))).toEqual({ auc: null, pairs: 0 });
  });

  test.each([
    ["equal texts, whatever their vectors", (at: number, chunk: number) => `${at % 10}/${chunk}`, 0.2],
    ["other texts with nearly equal vectors", (at: number, chunk: number) => `${at}/${chunk}`, 0.001],
  ])("copies of documents say nothing: %s", (_name, content, change) => {
    // Ten documents, and three copies of each, whose second chunks are nearer to the first ones than their
    // own.
    const copied = (at: number, chunk: number): Float32Array =>
      vector(200, { [at % 10]: 1 + chunk * change * Math.floor(at / 10), [100 + chunk]: 0.3 });
    expect(measureAuc(pairs(40, copied, content))).toEqual({ auc: 1, pairs: 40 });
  });
});

test("the fit is 0 at chance and below, 1 as good as in a known language, and known from its middle on", () => {
  expect([0, 0.5, 0.9, 1].map(languageFit)).toEqual([0, 0, 1, 1]);
  // Arabic, Hindi, Chinese, German and English with the built-in model.
  const fits = [0.542, 0.539, 0.67, 0.947, 0.99].map(languageFit);
  expect(fits.map((fit) => Number(fit.toFixed(2)))).toEqual([0.11, 0.1, 0.43, 1, 1]);
  expect(fits.map(isLanguageKnown)).toEqual([false, false, false, true, true]);
});

describe("choosePairs", () => {
  const runs = (...chunks: number[]) => chunks.map((count, at) => ({ runNum: at + 1, chunks: count }));

  test("takes all of a small space, and no chunk without a next one", () => {
    const chosen = choosePairs(runs(1, 2, 4, 0));
    expect(chosen.map(({ runNum, index }) => `${runNum}/${index}`).toSorted()).toEqual([
      "2/0",
      "3/0",
      "3/1",
      "3/2",
    ]);
  });

  test("takes as many of each document as it has, spread over it, and no more than the bound", () => {
    const chosen = choosePairs(runs(5, 1_000, 1_000));
    expect(chosen).toHaveLength(MOST_PAIRS);
    const indexes = (run: number): number[] =>
      chosen.filter(({ runNum }) => runNum === run).map(({ index }) => index);
    expect([1, 2, 3].map((run) => indexes(run).length)).toEqual([4, 126, 126]);
    const gaps = indexes(2).map((index, at, all) => (at === 0 ? 7 : index - all[at - 1]!));
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(7);
    expect(Math.max(...indexes(2))).toBeGreaterThan(990);
  });

  test("follows a pair by one of another document", () => {
    const chosen = choosePairs(runs(100, 100, 100));
    expect(chosen.slice(0, 6).map(({ runNum }) => runNum)).toEqual([1, 2, 3, 1, 2, 3]);
  });
});
