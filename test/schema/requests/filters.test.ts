import { describe, expect, test } from "vitest";
import {
  type FilterFields,
  filtersOf,
  parseFilters,
  parseOrderBy,
} from "../../../src/schema/requests/filters.ts";

const FIELDS: FilterFields = {
  id: "uuid",
  name: "text",
  size: "number",
  done: "boolean",
  created_at: "timestamp",
  "meta.*": "json",
  "meta.kind": "text",
};
const ID = "01900000-0000-7000-8000-00000000000A";

function conditions(filters: Record<string, unknown>) {
  const refused: [string, string][] = [];
  const found = parseFilters(filters, FIELDS, (key, reason) => refused.push([key, reason]));
  return { found, refused };
}

describe("filters", () => {
  test("a bare field means exact", () => {
    expect(conditions({ name: "a" }).found).toEqual([
      { field: "name", jsonKey: null, type: "text", operator: "exact", value: "a" },
    ]);
  });

  test("values become those of the field's type", () => {
    expect(conditions({ id: ID }).found[0]?.value).toBe(ID.toLowerCase());
    expect(conditions({ created_at__gte: "2026-01-31" }).found[0]?.value).toBe("2026-01-31T00:00:00.000Z");
    expect(conditions({ created_at__lt: "2026-01-31T10:00:00+02:00" }).found[0]?.value).toBe(
      "2026-01-31T08:00:00.000Z",
    );
    expect(conditions({ size__in: [1, 2.5] }).found[0]?.value).toEqual([1, 2.5]);
  });

  test("null with exact or ne asks for absence or presence", () => {
    expect(conditions({ id: null, name__ne: null }).found).toMatchObject([
      { operator: "isnull", value: true },
      { operator: "isnull", value: false },
    ]);
  });

  test("a key of an open object may have dots and underscores", () => {
    expect(conditions({ "meta.my__key__exact": 1, "meta.a.b": true }).found).toMatchObject([
      { field: "meta.*", jsonKey: "my__key", operator: "exact" },
      { field: "meta.*", jsonKey: "a.b", operator: "exact" },
    ]);
    expect(conditions({ "meta.kind__icontains": "x" }).found).toMatchObject([
      { field: "meta.kind", jsonKey: null, type: "text" },
    ]);
  });

  test.each([
    ["secret", "x", /unknown field/],
    ["meta.", "x", /unknown field/],
    ["__proto__", "x", /unknown/],
    ["constructor", "x", /unknown field/],
    ["name__regex", "x", /unknown operator/],
    ["id__contains", "x", /does not apply/],
    ["done__gt", true, /does not apply/],
    ["name", 1, /expected a string/],
    ["id", "x", /expected a UUID/],
    ["size", "1", /expected a number/],
    ["size__gt", Infinity, /expected a number/],
    ["done", "true", /expected true or false/],
    ["created_at", "2026-02-30", /expected an ISO/],
    ["created_at", "+123456-01-01", /expected an ISO/],
    ["meta.x", {}, /expected a string/],
    ["name__in", "x", /takes a list/],
    ["size__in", [1, "2"], /expected a number/],
    ["name__isnull", "yes", /takes true or false/],
    ["name", "x".repeat(8_193), /at most/],
    ["name", "a\0", /NUL/],
    ["name__in", ["\ud800"], /surrogate/],
    ["meta.a\0", 1, /NUL/],
  ])("%s with %j is refused and never passed over", (key, value, reason) => {
    const { found, refused } = conditions(Object.fromEntries([[key, value]]) as Record<string, unknown>);
    expect(found).toEqual([]);
    expect(refused).toEqual([[key, expect.stringMatching(reason)]]);
  });
});

describe("order", () => {
  test("a minus turns a field round, an unknown one is refused at its place", () => {
    const refused: number[] = [];
    expect(
      parseOrderBy(["-created_at", "meta.x", "nothing", "--name"], FIELDS, (index) => refused.push(index)),
    ).toEqual([
      { field: "created_at", jsonKey: null, descending: true },
      { field: "meta.*", jsonKey: "x", descending: false },
    ]);
    expect(refused).toEqual([2, 3]);
  });
});

test("a key __proto__ of a body is refused as any other that is no field, and not passed over", () => {
  const filters: unknown = JSON.parse('{"__proto__": {"x": 1}}');
  const parsed = filtersOf(FIELDS, {}).safeParse(filters);
  expect(parsed.success).toBe(false);
  expect(parsed.error?.issues[0]?.path).toEqual(["__proto__"]);
});
