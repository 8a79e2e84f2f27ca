/** How the changes of two people to one agent are brought together, and how tools are checked as typed. */
import { describe, expect, test } from "vitest";
import { z } from "zod";
import {
  type Fields,
  NEW_AGENT,
  changesOf,
  differencesOf,
  isSame,
  merged,
} from "../../../console/src/screens/agents/fields.ts";
import { TOOLS, problemsOf } from "../../../console/src/screens/agents/tools.ts";
import { TOOL_IDS } from "../../../src/domain/tool-ids.ts";
import { AgentCreate, AgentPatch } from "../../../src/schema/agent.ts";
import { checkToolConfig } from "../../../src/schema/tool-config.ts";

const BEFORE: Fields = { ...NEW_AGENT, name: "Analyst", system_prompt: "Answer.", temperature: 0.2 };

describe("the fields of an agent", () => {
  test("are those that the API lets people change", () => {
    expect(Object.keys(NEW_AGENT).toSorted()).toEqual(Object.keys(AgentPatch.out.shape).toSorted());
  });

  test("begin as the API has them where they are left out", () => {
    const made = AgentCreate.parse({ name: "n", space_id: "01900000-0000-7000-8000-000000000010" });
    expect({ ...NEW_AGENT, name: "n", space_id: made.space_id }).toEqual(made);
  });

  test("are sent where they differ, and only then", () => {
    expect(changesOf(BEFORE, { ...BEFORE })).toEqual({});
    expect(changesOf(BEFORE, { ...BEFORE, temperature: null })).toEqual({ temperature: null });
  });

  test("are the same whatever the order of keys, but not of lists", () => {
    expect(isSame({ a: 1, b: [{ c: 2, d: 3 }] }, { b: [{ d: 3, c: 2 }], a: 1 })).toBe(true);
    expect(isSame([1, 2], [2, 1])).toBe(false);
    expect(isSame({ config: null }, {})).toBe(true);
  });
});

describe("the changes of two people", () => {
  const mine: Fields = { ...BEFORE, name: "Mine", temperature: 0.5, is_public: true };
  const theirs: Fields = { ...BEFORE, name: "Theirs", system_prompt: "Cite.", is_public: true };
  const differences = differencesOf(BEFORE, mine, theirs);

  test("differ field by field, by who made them; what both did alike does not", () => {
    expect(differences).toEqual([
      { field: "name", before: "Analyst", mine: "Mine", theirs: "Theirs", by: "both" },
      { field: "system_prompt", before: "Answer.", mine: "Answer.", theirs: "Cite.", by: "theirs" },
      { field: "temperature", before: 0.2, mine: 0.5, theirs: 0.2, by: "mine" },
    ]);
  });

  test("hold both where only one changed a field; the person decides the others", () => {
    expect(merged(differences, theirs, { name: "mine" })).toEqual({
      ...theirs,
      name: "Mine",
      temperature: 0.5,
    });
    expect(merged(differences, theirs, { name: "theirs", temperature: "theirs" })).toEqual(theirs);
    expect(merged(differences, theirs, { name: "mine", system_prompt: "mine" })).toEqual(mine);
  });
});

describe("the configuration of a tool", () => {
  const Checked = z
    .object({ tool_id: z.string(), config: z.record(z.string(), z.unknown()).nullish() })
    .superRefine(checkToolConfig);

  test("is of the tools that the service has", () => {
    expect(TOOLS).toEqual(TOOL_IDS);
  });

  test.each<[string, Record<string, unknown> | null]>([
    ["http_fetch", null],
    ["http_fetch", {}],
    ["http_fetch", { hosts: [] }],
    ["http_fetch", { hosts: ["example.org", "*.example.org", "10.0.0.1"] }],
    ["http_fetch", { hosts: ["https://example.org"] }],
    ["http_fetch", { hosts: ["*"] }],
    ["http_fetch", { hosts: ["a".repeat(254)] }],
    ["http_fetch", { hosts: Array.from({ length: 101 }, () => "a") }],
    ["http_fetch", { hosts: [], ports: [1] }],
    ["mcp", { server: "" }],
    ["mcp", { server: "tracker" }],
    ["mcp", { server: "s".repeat(101) }],
    ["mcp", { server: "tracker", tools: null }],
    ["mcp", { server: "tracker", tools: ["t".repeat(201)] }],
    ["mcp", { server: "tracker", tools: Array.from({ length: 101 }, () => "a") }],
    ["calculator", { anything: 1 }],
  ])("%s with %j is refused where the service refuses it", (toolId, config) => {
    const tool = { tool_id: toolId, config };
    expect(Object.keys(problemsOf(tool)).length === 0).toBe(Checked.safeParse(tool).success);
  });
});
