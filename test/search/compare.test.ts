import { expect, test } from "vitest";
import { compareRankings, overlapOf } from "../../src/search/compare.ts";

const hits = (...ids: string[]) =>
  ids.map((id, at) => ({ chunk_id: id, document_id: `of ${id}`, score: 1 - at / 10 }));

test("names what stayed, moved, went and came, with ranks and scores", () => {
  const changes = compareRankings(hits("a", "b", "c", "d"), hits("a", "c", "b", "e"));
  expect(changes.map(({ chunk_id, change }) => [chunk_id, change])).toEqual([
    ["a", "same"],
    ["b", "down"],
    ["c", "up"],
    ["d", "only_left"],
    ["e", "only_right"],
  ]);
  expect(changes[2]).toEqual({
    chunk_id: "c",
    document_id: "of c",
    left_rank: 3,
    right_rank: 2,
    left_score: 0.8,
    right_score: 0.9,
    change: "up",
  });
  expect(changes[4]).toMatchObject({ left_rank: null, left_score: null, right_rank: 4, right_score: 0.7 });
  expect(overlapOf(changes)).toBe(3 / 5);
});

test("rankings of nothing are alike, and rankings without a common chunk are not", () => {
  expect(overlapOf(compareRankings([], []))).toBe(1);
  expect(overlapOf(compareRankings(hits("a"), hits("b")))).toBe(0);
});
