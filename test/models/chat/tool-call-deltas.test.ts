import { expect, test } from "vitest";
import { collectToolCalls, type ToolCallDelta } from "../../../src/models/chat/tool-call-deltas.ts";

function collected(deltas: ToolCallDelta[]) {
  const calls = collectToolCalls();
  for (const delta of deltas) calls.add(delta);
  return calls.finish();
}

test("joins interleaved pieces by index", () => {
  const calls = collected([
    { index: 1, id: "b", function: { name: "two", arguments: "{" } },
    { index: 0, id: "a", function: { name: "one", arguments: "[" } },
    { index: 1, function: { arguments: "}" } },
    { index: 0, function: { arguments: "]" } },
  ]);
  expect(calls).toEqual([
    { id: "a", name: "one", arguments: "[]" },
    { id: "b", name: "two", arguments: "{}" },
  ]);
});

test("takes calls without an index apart by their ids, and names those without an id", () => {
  expect(
    collected([
      { id: "a", function: { name: "one", arguments: "{" } },
      { function: { arguments: "}" } },
      { id: "b", function: { name: "two" } },
    ]),
  ).toEqual([
    { id: "a", name: "one", arguments: "{}" },
    { id: "b", name: "two", arguments: "" },
  ]);
  expect(collected([{ index: 0, function: { name: "one" } }])).toEqual([
    { id: "call_0", name: "one", arguments: "" },
  ]);
});

test.each<[string, ToolCallDelta[]]>([
  ["too many calls", Array.from({ length: 129 }, (_, index) => ({ index, function: { name: "x" } }))],
  ["too large arguments", [{ index: 0, function: { name: "x", arguments: "y".repeat(1_048_577) } }]],
  ["a call without a name", [{ index: 0, id: "a", function: { arguments: "{}" } }]],
])("refuses %s", (_name, deltas) => {
  expect(() => collected(deltas)).toThrow(expect.objectContaining({ code: "provider_unavailable" }));
});

test("what is no text is no part of a call, and passes no bound", () => {
  const calls = collectToolCalls();
  calls.add({ index: 0, id: "a", function: { name: "search", arguments: { query: "x" } as never } });
  calls.add({ index: 0, function: { name: 5 as never, arguments: "{}" } });
  expect(calls.finish()).toEqual([{ id: "a", name: "search", arguments: "{}" }]);
  expect(() => {
    for (let piece = 0; piece < 100; piece += 1)
      calls.add({ index: 0, function: { arguments: "x".repeat(65_536) } });
  }).toThrow("too many or too large tool calls");
});
