import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readWhole } from "../../../src/agents/quotes/passage.ts";
import { pickQuote } from "../../../src/agents/quotes/pick.ts";

function picked(statement: string, passage: string, name = "report.pdf") {
  const { quote, support } = pickQuote(statement, readWhole(passage, name));
  return { quote: quote === null ? null : passage.slice(...quote), support };
}

const REPORT =
  "# Report\n\nThe company employs 300 people. Revenue grew by 12 percent over the last year. " +
  "Costs grew by 3 percent.\n\n- The board met in Vienna.\n- Dividends were paid in May.\n";

describe("a quote is", () => {
  test.each([
    [
      "the sentence with the words",
      "Revenue increased by 12 percent",
      "Revenue grew by 12 percent over the last year.",
    ],
    ["the one with the number", "It grew by 3 percent", "Costs grew by 3 percent."],
    ["an item of a list without its dash", "Dividends were paid", "Dividends were paid in May."],
  ])("%s", (_, statement, quote) => {
    expect(picked(statement, REPORT)).toEqual({ quote, support: "strong" });
  });

  test("found by stems in the passage's language", () => {
    const passage = "Die Kosten sanken. Das alte Haus der Familie wurde 1890 gebaut. Der Garten ist groß.";
    expect(picked("Die Häuser der Familie, gebaut 1890", passage)).toEqual({
      quote: "Das alte Haus der Familie wurde 1890 gebaut.",
      support: "strong",
    });
  });

  test.each([
    [
      "Chinese",
      "收入增长了12%",
      "成本上升了3%。公司去年的收入增长了12%，达到4800万。",
      "公司去年的收入增长了12%，达到4800万。",
    ],
    ["Japanese", "売上は12%増えた", "費用は減った。昨年の売上は12%増えた。", "昨年の売上は12%増えた。"],
    [
      "Arabic, with its own digits",
      "زادت الإيرادات ١٢ في المئة",
      "ارتفعت التكاليف. زادت الإيرادات بنسبة 12 في المئة.",
      "زادت الإيرادات بنسبة 12 في المئة.",
    ],
    [
      "Hebrew",
      "ההכנסות גדלו ב-12 אחוזים",
      "העלויות ירדו. ההכנסות גדלו ב-12 אחוזים השנה.",
      "ההכנסות גדלו ב-12 אחוזים השנה.",
    ],
    [
      "Russian",
      "выручка выросла на 12 процентов",
      "Расходы снизились. За год выручка выросла на 12 процентов.",
      "За год выручка выросла на 12 процентов.",
    ],
    [
      "Hindi",
      "राजस्व 12 प्रतिशत बढ़ा",
      "लागत कम हुई। कंपनी का राजस्व 12 प्रतिशत बढ़ा।",
      "कंपनी का राजस्व 12 प्रतिशत बढ़ा।",
    ],
  ])("exact in %s", (_, statement, passage, quote) => {
    expect(picked(statement, passage)).toEqual({ quote, support: "strong" });
  });

  test("a row of a table, whose header names what its cells are", () => {
    const table = "| Year | Revenue | Costs |\n| --- | --- | --- |\n| 2023 | 40 | 31 |\n| 2024 | 48 | 33 |\n";
    expect(picked("In 2024 the revenue was 48", table)).toEqual({
      quote: "2024 | 48 | 33",
      support: "strong",
    });
  });

  test("two sentences that carry the statement together", () => {
    const passage = "The heron is grey. It nests in tall trees. It eats fish.";
    expect(picked("The grey heron nests in tall trees", passage).quote).toBe(
      "The heron is grey. It nests in tall trees.",
    );
  });

  test("what the chunk has: ligatures, hyphens at line ends and wrapped lines stay", () => {
    const passage = "The oﬃce of\nﬁnance was reor-\nganized in 2020. It moved.";
    expect(picked("The office of finance changed in 2020", passage)).toEqual({
      quote: "The oﬃce of\nﬁnance was reor-\nganized in 2020.",
      support: "strong",
    });
  });

  test("at most 300 characters of a sentence without end, around the words of the statement", () => {
    const passage = `${"filler words ".repeat(2_000)}revenue grew by 12 percent ${"more filler ".repeat(2_000)}`;
    const { quote, support } = picked("Revenue grew by 12 percent", passage);
    expect(support).toBe("strong");
    expect(quote!.length).toBeLessThanOrEqual(300);
    expect(quote).toContain("revenue grew by 12 percent");
    expect(quote).toMatch(/^\S.*\S$/);
  });

  test("whole cells of a row that is too long", () => {
    const row = `| Revenue | ${Array.from({ length: 60 }, (_, index) => `cell ${index} of many`).join(" | ")} |`;
    const { quote } = picked("Cell 41 of many", row);
    expect(quote!.length).toBeLessThanOrEqual(300);
    expect(quote).toContain("cell 41 of many");
    expect(quote).toMatch(/^cell \d+ of many.*of many$/);
  });
});

describe("support is weak", () => {
  test.each([
    ["if the number is another one", "Revenue grew by 21 percent over the last year"],
    ["if one number of two is missing", "Revenue grew by 12 percent to 48 million"],
    ["if a numbered name is another one", "Revenue of B12 grew by 12 percent over the last year"],
    ["if few of its words are there", "The board of Vienna dismissed its chairman after a scandal"],
  ])("%s", (_, statement) => {
    expect(picked(statement, REPORT).support).toBe("weak");
  });

  test("without a quote if no word is there", () => {
    expect(picked("Foxes hunt hares", REPORT)).toEqual({ quote: null, support: "weak" });
    expect(picked("...", REPORT)).toEqual({ quote: null, support: "weak" });
    expect(picked("Foxes hunt hares", "")).toEqual({ quote: null, support: "weak" });
  });
});

describe("numbers are the same", () => {
  test.each([
    ["with and without thousands", "It cost 1,000 euros", "It cost 1000 euros."],
    ["in German", "Es kostete 1.234,50 Euro", "Es kostete 1234.5 Euro."],
    ["with zeros behind", "It weighs 12.0 kg", "It weighs 12 kg."],
    ["in Devanagari", "यह 12 किलो है", "यह १२ किलो है।"],
    ["with a unit behind", "It weighs 12 kg", "It weighs 12kg."],
  ])("%s", (_, statement, passage) => {
    expect(picked(statement, passage).support).toBe("strong");
  });

  test("if the document's name has them", () => {
    expect(picked("Revenue grew by 12 percent in 2023", REPORT, "report-2023.pdf").support).toBe("strong");
    expect(picked("Revenue grew by 12 percent in 2023", REPORT, "report.pdf").support).toBe("weak");
  });
});

describe("every quote is a short whole part of any passage", () => {
  const PARTS = [
    "Revenue grew by 12 percent. ",
    "fox",
    "🦊",
    "👨‍👩‍👧‍👦",
    "é",
    "\n",
    "\n\n",
    "| a | ",
    "|---|",
    "- ",
    "```\n",
    "收入增长",
    "الإيرادات ",
    "x".repeat(290),
    " ",
    "12",
    "\u0301",
  ];

  /** Quotes from passages that are made of the parts, for statements that have one. */
  const forQuotes = (parts: readonly string[], check: (text: string, quote: readonly number[]) => void) => {
    const part = fc.constantFrom(...parts);
    fc.assert(
      fc.property(
        fc.array(part, { maxLength: 60 }),
        fc.array(part, { maxLength: 8 }),
        (passage, statement) => {
          const text = passage.join("");
          const { quote } = pickQuote(statement.join(""), readWhole(text, "a.md"));
          fc.pre(quote !== null);
          check(text, quote);
        },
      ),
      { numRuns: 500 },
    );
  };

  test("of at most 300 characters", () => {
    forQuotes([...PARTS, "\ud83e"], (text, [start, end]) => {
      expect(start).toBeGreaterThanOrEqual(0);
      expect(end).toBeGreaterThan(start!);
      expect(end).toBeLessThanOrEqual(text.length);
      expect(end! - start!).toBeLessThanOrEqual(300);
    });
  });

  test("that cuts no character in two", () => {
    forQuotes(PARTS, (text, [start, end]) => {
      expect(text.slice(start, end).isWellFormed()).toBe(true);
    });
  });
});
