import fc from "fast-check";
import { expect, test } from "vitest";
import { fitted, fuse, isUnrelated } from "../../src/domain/fusion.ts";

const constants = { alpha: 0.4 };

test("the shares add up to the score, and all lie in [0, 1]", () => {
  const cosine = fc.option(fc.double({ min: -1.01, max: 1.01, noNaN: true }), { nil: null });
  const coverage = fc.option(fc.double({ min: 0, max: 1.01, noNaN: true }), { nil: null });
  fc.assert(
    fc.property(cosine, coverage, (cos, b) => {
      const { score, dense_score, sparse_score } = fuse({ cosine: cos, coverage: b }, constants);
      expect(score).toBe((dense_score ?? 0) + (sparse_score ?? 0));
      for (const value of [score, dense_score ?? 0, sparse_score ?? 0])
        expect(value >= 0 && value <= 1).toBe(true);
    }),
  );
});

test("a side that has nothing for the chunk is null, not zero", () => {
  expect(fuse({ cosine: null, coverage: 0.35 }, constants)).toEqual({
    score: 0.3,
    dense_score: null,
    sparse_score: 0.3,
  });
  expect(fuse({ cosine: -0.2, coverage: null }, constants)).toEqual({
    score: 0,
    dense_score: 0,
    sparse_score: null,
  });
});

test("the dense side weighs as much as the model knows of query and space, and never nothing", () => {
  expect(fitted(constants, 1, 1)).toEqual(constants);
  expect(fitted(constants, 0.5, 1)).toEqual({ ...constants, alpha: 0.2 });
  expect(fitted(constants, 1, 0.5)).toEqual({ ...constants, alpha: 0.2 });
  const nothing = fitted(constants, 0).alpha;
  expect(nothing).toBeGreaterThan(0);
  expect(nothing).toBeLessThan(constants.alpha / 20);
});

test("a text is about something else only if neither its meaning nor its words are near", () => {
  const measured = { alpha: 0.5, unrelated: 0.4 };
  expect(isUnrelated({ cosine: 0.39, coverage: 0.39, words: 3 }, measured)).toBe(true);
  expect(isUnrelated({ cosine: 0.39, coverage: 0.39, words: 2 }, measured)).toBe(false);
  expect(isUnrelated({ cosine: 0.4, coverage: 0, words: 3 }, measured)).toBe(false);
  expect(isUnrelated({ cosine: 0, coverage: 0.4, words: 3 }, measured)).toBe(false);
  expect(isUnrelated({ cosine: -1, coverage: 0, words: 3 }, { alpha: 0.5 })).toBe(false);
  expect(isUnrelated({ cosine: 0.25, coverage: 0, words: 3 }, fitted(measured, 0.5))).toBe(false);
  expect(isUnrelated({ cosine: 0.15, coverage: 0, words: 3 }, fitted(measured, 0.5))).toBe(true);
});
