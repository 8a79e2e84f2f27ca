/** What the list of a space asks for, and what of it is selected. */
import { describe, expect, test } from "vitest";
import { movedBy } from "../../../console/src/screens/space/list/list-keys.ts";
import { knownOrder, nextOrder, questionOf } from "../../../console/src/screens/space/list/question.ts";
import {
  ALL,
  NONE,
  countOf,
  extend,
  isSelected,
  toggle,
} from "../../../console/src/screens/space/list/selection.ts";

const SPACE = "01900000-0000-7000-8000-000000000010";

describe("the question of an address", () => {
  test("asks for all of the space, newest first, if the address says nothing", () => {
    expect(questionOf(SPACE, {})).toEqual({ filters: { space_id: SPACE }, order_by: ["-created_at"] });
  });

  test("narrows by folder, status, type and a part of the name at once", () => {
    const { filters } = questionOf(SPACE, { folder: "f", status: "failed", type: "PDF", q: "oil" });
    expect(filters).toEqual({
      space_id: SPACE,
      folder_id: "f",
      "processing_state.pipeline_status": "failed",
      file_type: "PDF",
      "doc_metadata.original_filename__icontains": "oil",
    });
  });

  test.each([
    [{ folder: "top" }, { folder_id__isnull: true }],
    [{ status: "waiting" }, { "processing_state.waiting_for__isnull": false }],
    [{ status: "unsearchable" }, { "processing_state.searchable": false }],
    [{ q: "" }, {}],
  ])("reads %j as what it stands for", (address, filters) => {
    expect(questionOf(SPACE, address).filters).toEqual({ space_id: SPACE, ...filters });
  });

  test("keeps an order that the service would refuse out", () => {
    expect(knownOrder("-file_size")).toBe("-file_size");
    expect(knownOrder("secret")).toBe("-created_at");
  });

  test("turns the order round when a column is clicked again", () => {
    expect(nextOrder("file_size", "-created_at")).toBe("file_size");
    expect(nextOrder("file_size", "file_size")).toBe("-file_size");
    expect(nextOrder("file_size", "-file_size")).toBe("file_size");
  });
});

describe("a selection", () => {
  test("adds and takes away one document", () => {
    const one = toggle(NONE, "a");
    expect(isSelected(one, "a")).toBe(true);
    expect(countOf(toggle(one, "a"), 10)).toBe(0);
  });

  test("of all counts what matches, and becomes one document when one is clicked", () => {
    expect(countOf(ALL, 100_000)).toBe(100_000);
    expect(toggle(ALL, "a")).toEqual({ kind: "some", ids: new Set(["a"]) });
  });

  test("holds no more than one request may name", () => {
    const ids = Array.from({ length: 2_000 }, (_, index) => String(index));
    const many = extend(NONE, ids);
    expect(countOf(many, 5_000)).toBe(1_000);
    expect(countOf(toggle(many, "one more"), 5_000)).toBe(1_000);
  });
});

describe("the keys of the list", () => {
  const list = { total: 100, page: 10 };

  test.each([
    ["ArrowDown", 0, 1],
    ["ArrowUp", 0, 0],
    ["PageDown", 95, 99],
    ["PageUp", 5, 0],
    ["Home", 50, 0],
    ["End", 50, 99],
    ["x", 50, undefined],
  ])("%s at row %i goes to %s", (key, from, to) => {
    expect(movedBy(key, from, list)).toBe(to);
  });

  test("go nowhere in an empty list", () => {
    expect(movedBy("End", 0, { total: 0, page: 10 })).toBeUndefined();
  });
});
