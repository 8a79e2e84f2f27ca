/** Every list and text among the arguments that a model may give to a tool has a bound. */
import { expect, test } from "vitest";
import { createToolbox } from "../../../src/agents/tools/index.ts";
import type { Agent } from "../../../src/db/turns/agents-in-chat.ts";
import { TOOL_IDS } from "../../../src/domain/tool-ids.ts";

interface Schema {
  readonly type?: string;
  readonly [key: string]: unknown;
}

/** The paths of values without a bound. A format counts as one: its texts have one length. */
function unbounded(schema: unknown, path: string): string[] {
  if (typeof schema !== "object" || schema === null) return [];
  const { type, maxLength, maxItems, format } = schema as Schema;
  const isUnbounded =
    (type === "string" && maxLength === undefined && format === undefined && !("enum" in schema)) ||
    (type === "array" && maxItems === undefined);
  return [
    ...(isUnbounded ? [path] : []),
    ...Object.entries(schema).flatMap(([name, inner]) => unbounded(inner, `${path}.${name}`)),
  ];
}

test("every tool bounds its arguments", async () => {
  const agent = {
    agent_type: "simple",
    tool_attachments: TOOL_IDS.map((tool_id) => ({ tool_id, config: null })),
  } as unknown as Agent;
  const definitions = await createToolbox(
    { httpFetchHosts: [], mcpServers: {} },
    () => undefined,
  ).definitions(agent);
  expect(definitions).toHaveLength(TOOL_IDS.length - 1);
  expect(definitions.flatMap(({ name, parameters }) => unbounded(parameters, name))).toEqual([]);
  expect(
    unbounded(
      {
        properties: { a: { type: "string" }, b: { type: "array", items: { type: "string", maxLength: 1 } } },
      },
      "x",
    ),
  ).toEqual(["x.properties.a", "x.properties.b"]);
});
