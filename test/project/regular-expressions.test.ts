/**
 * Every regular expression of the code runs in time linear in its input, as far as an analysis of the
 * expression can tell.
 */
import { globSync, readFileSync } from "node:fs";
import { parseSync, Visitor } from "oxc-parser";
import { analyse } from "scslre";
import { expect, test, vi } from "vitest";

interface Expression {
  readonly source: string;
  readonly flags: string;
}

/**
 * Expressions that the analysis finds slow, and why nobody can exploit them. An expression that was fixed or
 * removed must leave the list.
 */
const ALLOWED: Readonly<Record<string, string>> = {
  "src/config/groups.ts /\\/+$/": "an operator's own setting",
  "src/storage/stores/gcs.ts /\\/+$/": "an operator's own setting",
  "src/telemetry/tracing.ts /\\/+$/": "an operator's own setting",
  "src/models/chat/local-extractive.ts /\\s*\\S+/gu": "the service's own answer of three quotations",
};

/** Files that build expressions when they are loaded. */
const MADE_AT_LOAD = [
  "src/domain/ids.ts",
  "src/domain/paths.ts",
  "src/domain/work/workflow-ids.ts",
  "src/parsers/legacy/doc-headings.ts",
  "src/parsers/legacy/word-95.ts",
  "src/search/text/tokens.ts",
  "src/storage/object-store.ts",
];
/** Files that copy a literal. */
const COPIES = ["src/parsers/legacy/rtf-tokens.ts"];

const files = globSync("src/**/*.ts").toSorted();

function literalsOf(file: string): { literals: Expression[]; makesOthers: boolean } {
  const literals: Expression[] = [];
  let makesOthers = false;
  const isRegExp = (callee: { type: string; name?: string }): boolean =>
    callee.type === "Identifier" && callee.name === "RegExp";
  const noteCallee = ({ callee }: { callee: { type: string } }): void => {
    makesOthers ||= isRegExp(callee);
  };
  new Visitor({
    Literal(node) {
      if ("regex" in node && node.regex !== null)
        literals.push({ source: node.regex.pattern, flags: node.regex.flags });
    },
    NewExpression: noteCallee,
    CallExpression: noteCallee,
  }).visit(parseSync(file, readFileSync(file, "utf8")).program);
  return { literals, makesOthers };
}

/** Loads a file again and records the expressions that it creates. */
async function madeAtLoad(file: string): Promise<Expression[]> {
  const made: Expression[] = [];
  const Native = RegExp;
  const Watched = new Proxy(Native, {
    construct(target, args) {
      const expression = Reflect.construct(target, args) as RegExp;
      made.push({ source: expression.source, flags: expression.flags });
      return expression;
    },
  });
  vi.stubGlobal("RegExp", Watched);
  // The query makes it a different module from one that is already loaded.
  await import(`../../${file}?watched`);
  vi.unstubAllGlobals();
  return made;
}

/** Whether a text that repeats some character makes a search for the expression slower than linear. */
function isSlow(expression: Expression): boolean {
  return analyse(expression, { maxReports: 1 }).reports.length > 0;
}

const nameOf = (file: string, { source, flags }: Expression): string => `${file} /${source}/${flags}`;

test("literals are linear, but for those that are allowed for a reason", () => {
  const slow = files.flatMap((file) =>
    literalsOf(file)
      .literals.filter(isSlow)
      .map((expression) => nameOf(file, expression)),
  );
  expect([...new Set(slow)].toSorted()).toEqual(Object.keys(ALLOWED).toSorted());
});

test("what is put together at load is linear too, and nothing else is put together", async () => {
  expect(files.filter((file) => literalsOf(file).makesOthers && !COPIES.includes(file))).toEqual(
    MADE_AT_LOAD,
  );
  for (const file of MADE_AT_LOAD) {
    const made = await madeAtLoad(file);
    expect(made).not.toEqual([]);
    expect(made.filter(isSlow).map((expression) => nameOf(file, expression))).toEqual([]);
  }
});

test.each([
  ["a run that is looked for up to the end, from each of its places", /(?:`+| ?\[[\d,\s]{0,100}| )$/],
  ["the same in a class", /[.,;:!?)\]}'’]+$/],
  ["neighbours that can trade characters", /^[^@,:/]+@[^@,:/]+\.[^@,:/]+$/u],
  ["a repeat in a repeat", /^(?:a+)+$/],
])("the analysis finds %s", (_name, expression) => {
  expect(isSlow(expression)).toBe(true);
});
