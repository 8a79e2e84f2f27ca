/** Which of what the console has asked an event makes it ask again. */
import type { HoldfastEvent } from "@holdfast/client";
import { describe, expect, test } from "vitest";
import { concerns, idsOf, kindsOf } from "../../../console/src/live/kinds.ts";
import { mergePatchOf } from "../../../console/src/screens/document/merge-patch.ts";

const DOCUMENT = "01900000-0000-7000-8000-000000000030";
const RUN = "01900000-0000-7000-8000-000000000040";
const OTHER = "01900000-0000-7000-8000-000000000031";

const event = (type: string): HoldfastEvent =>
  ({
    type,
    resource: { type: "document", id: DOCUMENT },
    data: { pipeline_run_id: RUN },
  }) as unknown as HoldfastEvent;

describe("an event of a document", () => {
  const ids = new Set(idsOf(event("document.completed")));

  test("concerns lists, the document and its run, and no other document", () => {
    expect(kindsOf(event("document.completed"))).toEqual(["documents", "runs"]);
    expect(concerns(["documents", "page", {}, 1], ids)).toBe(true);
    expect(concerns(["documents", DOCUMENT, "chunks"], ids)).toBe(true);
    expect(concerns(["runs", RUN, "attempts"], ids)).toBe(true);
    expect(concerns(["documents", OTHER, "chunks"], ids)).toBe(false);
    expect(concerns(["runs", OTHER], ids)).toBe(false);
  });

  test("of another kind concerns all of that kind", () => {
    expect(idsOf(event("folder.deleted"))).toBeUndefined();
    expect(kindsOf(event("something.new"))).toBe("all");
  });
});

describe("a merge patch", () => {
  test.each([
    [{ a: 1, b: 2 }, { a: 1 }, { a: 1, b: null }],
    [{ a: { x: 1, y: 2 } }, { a: { x: 1 } }, { a: { x: 1, y: null } }],
    [{ a: { x: 1 } }, { a: [1] }, { a: [1] }],
    [{}, { a: { x: 1 } }, { a: { x: 1 } }],
  ])("of %j into %j", (before, wanted, patch) => {
    expect(mergePatchOf(before, wanted)).toEqual(patch);
  });
});
