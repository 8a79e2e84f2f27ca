/** Counts a conversation's tokens: exactly if it is short, and in bounded time however long it is. */
import { expect, test } from "vitest";
import { boundedCount } from "../../../src/models/tokens/bounded.ts";

const byWord = (text: string): number => text.split(/\s+/).filter((word) => word !== "").length;

test("short texts of words are given to the tokenizer as they are", () => {
  const given: string[] = [];
  const count = boundedCount((text) => given.push(text));
  count("How did revenue develop?");
  count("It grew.");
  expect(given).toEqual(["How did revenue develop?", "It grew."]);
});

test("the tokenizer is given no more than a bound of all texts together, and no long run", () => {
  let given = 0;
  let longest = 0;
  const count = boundedCount((text) => {
    given += text.replaceAll(" ", "").length;
    longest = Math.max(longest, ...text.split(" ").map((run) => run.length));
    return 1;
  });
  for (let message = 0; message < 50; message += 1) count("漢".repeat(100_000));
  expect(given).toBe(100_000);
  expect(longest).toBeLessThanOrEqual(64);
});

test("what is beyond the bound is taken to be as dense as what was counted", () => {
  const dense = boundedCount(byWord);
  dense("a b ".repeat(50_000));
  expect(dense("a b ".repeat(50_000))).toBe(100_000);
  const long = boundedCount(byWord)("word ".repeat(400_000));
  expect(long).toBeGreaterThanOrEqual(400_000);
});
