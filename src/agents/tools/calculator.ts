/** The tool that calculates. An expression becomes a tree of checked nodes; none of it runs as code. */
import type { FactoryFunctionMap, MathJsInstance, MathNode } from "mathjs/number";
import { z } from "zod";
import { DomainError } from "../../domain/errors.ts";
import { openOnce } from "../../process/concurrency/open-once.ts";
import { defineTool } from "./define-tool.ts";

const EXPRESSION_MAX_CHARACTERS = 1_000;
const NODES_MAX = 500;
/** How many digits are shown: one fewer than a double is exact to, so that 0.1 + 0.2 is 0.3. */
const DIGITS = 14;

/** Without assignments, functions, ranges and lists, the time is linear in the expression's length. */
const NODE_TYPES = new Set([
  "ConstantNode",
  "OperatorNode",
  "ParenthesisNode",
  "FunctionNode",
  "SymbolNode",
  "ConditionalNode",
  "RelationalNode",
]);
/** Functions that take constant time; combinations, for example, count up to their operands. */
const FUNCTIONS = new Set(
  (
    "abs acos acosh add asin asinh atan atan2 atanh cbrt ceil cos cosh divide exp expm1 factorial fix " +
    "floor gcd hypot lcm log log10 log1p log2 max mean median min mod multiply nthRoot pow round sign " +
    "sin sinh sqrt square subtract sum tan tanh unaryMinus"
  ).split(" "),
);
const CONSTANTS = new Set(["pi", "PI", "e", "E", "tau", "phi", "Infinity", "NaN", "true", "false"]);

/** Loading takes a sixth of a second, so it waits for the first expression. */
const { open: mathLibrary } = openOnce(async (): Promise<MathJsInstance> => {
  const { all, create } = await import("mathjs/number");
  // With numbers that are all doubles, the time of an operation does not depend on its operands.
  return create(all as FactoryFunctionMap, {});
});

export const calculator = defineTool({
  name: "calculator",
  description:
    "Calculates one arithmetic expression exactly to 14 digits, " +
    "e.g. `(1299 * 1.19) / 12`, `sqrt(2) ^ 3`, `round(17 / 3, 2)`.",
  args: z.object({
    expression: z
      .string()
      .min(1)
      .max(EXPRESSION_MAX_CHARACTERS)
      .describe(
        "+ - * / ^ % !, comparisons, parentheses, pi, e, and functions such as sqrt, log, round, min, max, " +
          "sin. Write 5 percent of x as x * 0.05.",
      ),
  }),
  run: async (_context, { expression }) => ({
    type: "text",
    text: calculate(await mathLibrary(), expression),
  }),
});

function calculate(math: MathJsInstance, expression: string): string {
  let tree: MathNode;
  try {
    tree = math.parse(expression);
  } catch (error) {
    throw new DomainError("invalid", `expression: ${reasonOf(error)}`);
  }
  check(tree);
  try {
    return `${expression.trim()} = ${math.format(tree.evaluate(), { precision: DIGITS })}`;
  } catch (error) {
    throw new DomainError("invalid", `expression: ${reasonOf(error)}`);
  }
}

function check(tree: MathNode): void {
  let nodes = 0;
  tree.traverse((node, path, parent) => {
    nodes += 1;
    if (nodes > NODES_MAX) throw new DomainError("invalid", "expression: too long");
    if (!NODE_TYPES.has(node.type))
      throw new DomainError("invalid", "expression: only numbers, operators and functions can be calculated");
    // The name of a called function is a child of the call, under the path `fn`.
    const isCalled = parent?.type === "FunctionNode" && path === "fn";
    if (!("name" in node) || node.type !== "SymbolNode") return;
    const name = String(node.name);
    const isKnown = (isCalled ? FUNCTIONS : CONSTANTS).has(name);
    if (!isKnown) throw new DomainError("invalid", `expression: ${name.slice(0, 50)} is not known`);
  });
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message.slice(0, 200) : "cannot be calculated";
}
