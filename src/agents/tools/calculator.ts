/** The tool that calculates. Expressions are parsed to a tree whose nodes are checked; nothing is ever run as code. */
import type { FactoryFunctionMap, MathJsInstance, MathNode } from "mathjs/number";
import { z } from "zod";
import { DomainError } from "../../domain/errors.ts";
import { defineTool } from "./define-tool.ts";

const EXPRESSION_MAX_CHARACTERS = 1_000;
const NODES_MAX = 500;
/** Digits shown: one fewer than a double is exact to, so that 0.1 + 0.2 is 0.3. */
const DIGITS = 14;

/** Neither assignments nor functions of one's own, ranges or lists: time is linear in the expression's length. */
const NODE_TYPES = new Set([
  "ConstantNode",
  "OperatorNode",
  "ParenthesisNode",
  "FunctionNode",
  "SymbolNode",
  "ConditionalNode",
  "RelationalNode",
]);
/** Each takes constant time; combinations and permutations would count up to their operands. */
const FUNCTIONS = new Set(
  (
    "abs acos acosh add asin asinh atan atan2 atanh cbrt ceil cos cosh divide exp expm1 factorial fix floor gcd hypot " +
    "lcm log log10 log1p log2 max mean median min mod multiply nthRoot pow round sign sin sinh sqrt square subtract sum tan tanh unaryMinus"
  ).split(" "),
);
const CONSTANTS = new Set(["pi", "PI", "e", "E", "tau", "phi", "Infinity", "NaN", "true", "false"]);

let loading: Promise<MathJsInstance> | undefined;

/** One that failed is tried again by the next expression. */
function mathLibrary(): Promise<MathJsInstance> {
  loading ??= loadMath().catch((error: unknown) => {
    loading = undefined;
    throw error;
  });
  return loading;
}

/** Loaded by the first expression: it takes a sixth of a second, which no process that never calculates should pay at its start. */
async function loadMath(): Promise<MathJsInstance> {
  const { all, create } = await import("mathjs/number");
  // Doubles only: every operation takes the same short time whatever its operands are.
  return create(all as FactoryFunctionMap, {});
}

export const calculator = defineTool({
  name: "calculator",
  description:
    "Calculates one arithmetic expression exactly to 14 digits, e.g. `(1299 * 1.19) / 12`, `sqrt(2) ^ 3`, `round(17 / 3, 2)`.",
  args: z.object({
    expression: z
      .string()
      .min(1)
      .max(EXPRESSION_MAX_CHARACTERS)
      .describe(
        "+ - * / ^ % !, comparisons, parentheses, pi, e, and functions such as sqrt, log, round, min, max, sin. Write 5 percent of x as x * 0.05.",
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
    // A function's name is a child of its call.
    const isCalled = parent?.type === "FunctionNode" && path === "fn";
    if (
      "name" in node &&
      node.type === "SymbolNode" &&
      !(isCalled ? FUNCTIONS : CONSTANTS).has(String(node.name))
    ) {
      throw new DomainError("invalid", `expression: ${String(node.name).slice(0, 50)} is not known`);
    }
  });
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message.slice(0, 200) : "cannot be calculated";
}
