import { expect, it } from "vitest";
import { createToolbox } from "../../../src/agents/tools/index.ts";
import type { ToolContext } from "../../../src/agents/tools/tool.ts";
import type { Agent } from "../../../src/db/turns/agents-in-chat.ts";

const agent = {
  agent_type: "simple",
  tool_attachments: [{ tool_id: "calculator", config: null }],
} as unknown as Agent;
const toolbox = createToolbox({ httpFetchHosts: [], mcpServers: {} }, () => undefined);

async function calculate(expression: string): Promise<unknown> {
  const found = await toolbox.find(agent, "calculator");
  return (await found!.tool.run({} as ToolContext, { expression }, AbortSignal.timeout(1_000))) as unknown;
}

it.each([
  ["0.1 + 0.2", "0.3"],
  ["(1299 * 1.19) / 12", "128.8175"],
  ["2 ^ 10 - 5!", "904"],
  ["round(17 / 3, 2)", "5.67"],
  ["max(1, sqrt(16), 17 mod 5)", "4"],
  ["9^9^9^9^9", "Infinity"],
])("%s is %s", async (expression, result) => {
  expect(await calculate(expression)).toEqual({ type: "text", text: `${expression} = ${result}` });
});

it.each([
  "x = 5",
  "f(x) = f(x)",
  "1:1000000000",
  "[1, 2]",
  "'text'.length",
  "import('fs')",
  "constructor",
  "cos.constructor('return process')()",
  "sqrt(4).constructor",
  "process.exit()",
  "combinations(1e9, 5e8)",
  "parse('1')",
  "1 +",
  "(".repeat(900),
  `1${"+1".repeat(499)}`,
])("%s is refused in no time", async (expression) => {
  const startedAt = performance.now();
  await expect(calculate(expression)).rejects.toMatchObject({ code: "invalid" });
  expect(performance.now() - startedAt).toBeLessThan(500);
});
