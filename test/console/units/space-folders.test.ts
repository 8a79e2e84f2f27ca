/** The tree of a space's folders, and how far its documents are. */
import { describe, expect, test } from "vitest";
import { type Folder, aboveOf, linesOf } from "../../../console/src/screens/space/folders/tree-data.ts";
import { stagesOf } from "../../../console/src/screens/space/state/stages.ts";

const folder = (id: string, parent: string | null = null): Folder => ({
  id,
  name: id,
  parent_folder_id: parent,
  org_id: "o",
  home_space_id: "s",
  from_system: false,
  created_by: null,
});

const FOLDERS = [folder("b10"), folder("b9"), folder("c", "b9"), folder("d", "c")];

describe("the lines of the tree", () => {
  test("are those of the top level in the order of people, numbers as numbers", () => {
    expect(linesOf(FOLDERS, new Set()).map(({ folder: { id } }) => id)).toEqual(["b9", "b10"]);
  });

  test("have the folders of opened ones below them, a level deeper", () => {
    const lines = linesOf(FOLDERS, new Set(["b9", "c"]));
    expect(lines.map(({ folder: { id }, level }) => [id, level])).toEqual([
      ["b9", 1],
      ["c", 2],
      ["d", 3],
      ["b10", 1],
    ]);
  });

  test("open only what has folders", () => {
    const [b9, b10] = linesOf(FOLDERS, new Set(["b10"]));
    expect([b9!.mayOpen, b10!.mayOpen, b10!.isOpen]).toEqual([true, false, false]);
  });

  test("lead to a folder by those above it, also in a circle that nobody should have made", () => {
    expect(aboveOf(FOLDERS, "d")).toEqual(new Set(["c", "b9"]));
    expect(aboveOf([folder("x", "y"), folder("y", "x")], "x")).toEqual(new Set(["y", "x"]));
  });
});

describe("the stages of a document", () => {
  const state = { parsed: false, chunked: false, embedded: false };

  test.each([
    ["queued", "todo todo todo"],
    ["parsing", "now todo todo"],
    ["chunking", "done now todo"],
    ["embedding", "done done now"],
    ["completed", "done done done"],
  ] as const)("of a run that is %s are %s", (status, stages) => {
    expect(Object.values(stagesOf({ ...state, pipeline_status: status })).join(" ")).toBe(stages);
  });

  test("say where it failed", () => {
    const error = { stage: "chunking", code: "internal", message: "" };
    expect(stagesOf({ ...state, pipeline_status: "failed", error })).toEqual({
      parse: "done",
      chunk: "failed",
      embed: "todo",
    });
  });
});
