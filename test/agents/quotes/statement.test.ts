import fc from "fast-check";
import { expect, test } from "vitest";
import { createStatementFinder } from "../../../src/agents/quotes/statement.ts";

const MARK = /\[[\d, ]+\]/g;

/** The statements before each mark of the answer, which is written in pieces of `size`. */
function statementsOf(answer: string, size = answer.length) {
  const finder = createStatementFinder();
  const found: (ReturnType<typeof finder.before> | undefined)[] = [];
  let told = 0;
  const write = (text: string): void => {
    for (let at = 0; at < text.length; at += size) finder.write(text.slice(at, at + size));
  };
  for (const { 0: mark, index } of answer.matchAll(MARK)) {
    write(answer.slice(told, index));
    found.push(finder.before());
    finder.mark(mark);
    told = index + mark.length;
  }
  return found;
}

test.each([
  ["the sentence with the mark", "Costs fell. Revenue grew by 12 % [1].", ["Revenue grew by 12 %"]],
  ["a mark behind the full stop", "Costs fell. Revenue grew by 12.5 %. [1]", ["Revenue grew by 12.5 %."]],
  [
    "several marks in one sentence",
    "Revenue grew by 12 % [1], and costs fell by 3 % [2].",
    ["Revenue grew by 12 %", "and costs fell by 3 %"],
  ],
  ["marks side by side", "Revenue grew [1][2], [3].", ["Revenue grew", "Revenue grew", "Revenue grew"]],
  [
    "abbreviations",
    "Costs fell. It was Dr. Smith of St. Mary who found No. 7 [1].",
    ["It was Dr. Smith of St. Mary who found No. 7"],
  ],
  [
    "items of lists",
    "Figures:\n- **Revenue** grew [1]\n2. Costs fell [2]",
    ["**Revenue** grew", "Costs fell"],
  ],
  ["a mark on a line of its own", "Revenue grew.\n\n[1]", ["Revenue grew."]],
  ["Chinese", "成本下降了。公司收入增长了12%[1]。", ["公司收入增长了12%"]],
  ["Arabic", "انخفضت التكاليف. زادت الإيرادات[1].", ["زادت الإيرادات"]],
  ["Japanese", "費用は減った。売上は増えた[1]。", ["売上は増えた"]],
  [
    "a short sentence with the one before it",
    "Revenue grew by 12 %. Great! [1]",
    ["Revenue grew by 12 %. Great!"],
  ],
])("%s", (_, answer, sentences) => {
  const found = statementsOf(answer);
  expect(found.map((statement) => statement?.sentence)).toEqual(sentences);
  for (const statement of found)
    expect(answer.slice(statement!.start, statement!.end)).toBe(statement!.sentence);
});

test("in a table the source must carry the first cell and the one with the mark", () => {
  const [first, second] = statementsOf("| | 2023 | 2024 |\n|---|---|---|\n| Revenue | 40 [1] | 48 [2] |\n");
  expect(first).toMatchObject({ sentence: "Revenue | 40", words: expect.stringMatching(/^Revenue\s+40$/) });
  expect(second).toMatchObject({
    sentence: "Revenue | 40 [1] | 48",
    words: expect.stringMatching(/^Revenue\s+48$/),
  });
});

test("there is none without a word before the mark", () => {
  expect(statementsOf("[1] says so.")).toEqual([undefined]);
  expect(statementsOf("... [1]")).toEqual([undefined]);
});

test("what is far from its mark belongs to no statement, and no character is cut", () => {
  const [statement] = statementsOf(`${"🦊".repeat(3_000)} fox [1]`);
  expect(statement!.sentence.length).toBeLessThanOrEqual(1_000);
  expect(statement!.sentence.isWellFormed()).toBe(true);
});

test("the same is found however the answer is cut, and always where it says", () => {
  const part = fc.constantFrom(
    "Word ",
    "grew. ",
    "[1]",
    " [2, 3]",
    "\n",
    "| ",
    "🦊 ",
    "- ",
    "。",
    "Dr. ",
    "x".repeat(400),
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 40 }), fc.integer({ min: 1, max: 50 }), (parts, size) => {
      const answer = parts.join("");
      const found = statementsOf(answer, size);
      expect(found).toEqual(statementsOf(answer));
      for (const statement of found.filter((one) => one !== undefined)) {
        expect(answer.slice(statement.start, statement.end)).toBe(statement.sentence);
      }
    }),
  );
});
