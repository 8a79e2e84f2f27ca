import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { filterSql, orderSql, parameters } from "../../src/db/filter-sql.ts";
import { OPERATORS } from "../../src/domain/requests/conditions.ts";
import { type FilterFields, parseFilters, parseOrderBy } from "../../src/schema/requests/filters.ts";
import { createTestDatabase, type TestDatabase } from "../support/servers/database.ts";

const FIELDS: FilterFields = {
  id: "uuid",
  name: "text",
  size: "number",
  done: "boolean",
  created_at: "timestamp",
  "meta.*": "json",
};
const COLUMNS = {
  id: "t.id",
  name: "t.name",
  size: "t.size",
  done: "t.done",
  created_at: "t.created_at",
  "meta.*": "t.meta",
  "meta.title": "t.name",
};

const id = (tail: number): string => `01900000-0000-7000-8000-00000000000${tail}`;
const ROWS = [
  {
    id: id(1),
    name: "Alpha 100%",
    size: 1,
    done: true,
    created_at: "2026-01-01T00:00:00Z",
    meta: { kind: "a", year: 2020, ok: true, odd: null },
  },
  {
    id: id(2),
    name: "beta_x\\y",
    size: 20,
    done: false,
    created_at: "2026-02-01T00:00:00Z",
    meta: { kind: "B", year: 2021, tags: ["x"] },
  },
  {
    id: id(3),
    name: null,
    size: null,
    done: null,
    created_at: "2026-03-01T00:00:00Z",
    meta: { year: "2022" },
  },
];

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await database.db.owner.query(
    "create table t (id uuid, name text, size bigint, done boolean, created_at timestamptz, meta jsonb)",
  );
  await database.db.owner.query("insert into t select * from jsonb_populate_recordset(null::t, $1)", [
    JSON.stringify(ROWS),
  ]);
});
afterAll(() => database.drop());

async function matching(filters: Record<string, unknown>, orderBy: string[] = ["id"]): Promise<number[]> {
  const refuse = (key: unknown): never => {
    throw new Error(`refused: ${String(key)}`);
  };
  const params = parameters();
  const where = filterSql(parseFilters(filters, FIELDS, refuse), COLUMNS, params);
  const order = orderSql(parseOrderBy(orderBy, FIELDS, refuse), COLUMNS, params);
  const { rows } = await database.db.owner.query<{ id: string }>(
    `select t.id from t where ${where} order by ${order}`,
    params.values,
  );
  return rows.map((row) => Number(row.id.at(-1)));
}

test.each<[Record<string, unknown>, number[]]>([
  [{}, [1, 2, 3]],
  [{ id: id(2) }, [2]],
  [{ id__in: [id(1), id(3)] }, [1, 3]],
  [{ id__in: [] }, []],
  [{ id__ne: id(1) }, [2, 3]],
  [{ name: "Alpha 100%" }, [1]],
  [{ name__iexact: "ALPHA 100%" }, [1]],
  [{ name__ne: "Alpha 100%" }, [2, 3]],
  [{ name__contains: "%" }, [1]],
  [{ name__contains: "_" }, [2]],
  [{ name__contains: "\\" }, [2]],
  [{ name__icontains: "BETA" }, [2]],
  [{ name__contains: "BETA" }, []],
  [{ name__startswith: "Al" }, [1]],
  [{ name__istartswith: "al" }, [1]],
  [{ name__endswith: "%" }, [1]],
  [{ name__isnull: true }, [3]],
  [{ name: null }, [3]],
  [{ size__gte: 20 }, [2]],
  [{ size__lt: 1e300 }, [1, 2]],
  [{ size: 1.5 }, []],
  [{ done: true }, [1]],
  [{ done__ne: true }, [2, 3]],
  [{ created_at__gt: "2026-01-01", created_at__lte: "2026-02-01" }, [2]],
  [{ "meta.kind": "a" }, [1]],
  [{ "meta.kind__iexact": "b" }, [2]],
  [{ "meta.kind__in": ["a", "B", 5] }, [1, 2]],
  [{ "meta.year": 2020 }, [1]],
  [{ "meta.year__gte": 2020 }, [1, 2]],
  [{ "meta.year__gte": "2020" }, [3]],
  [{ "meta.ok": true }, [1]],
  [{ "meta.ok__isnull": false }, [1]],
  [{ "meta.odd__isnull": true }, [1, 2, 3]],
  [{ "meta.kind__contains": "a" }, [1]],
  [{ "meta.tags__contains": "x" }, [2]],
  [{ "meta.tags__icontains": "X" }, []],
  [{ "meta.title": "Alpha 100%" }, [1]],
  [{ "meta.nothing__ne": "x" }, [1, 2, 3]],
])("%j finds %j", async (filters, expected) => {
  expect(await matching(filters)).toEqual(expected);
});

test("an order is total, rows without a value come last, and the newest come first by default", async () => {
  expect(await matching({}, ["-size"])).toEqual([2, 1, 3]);
  expect(await matching({}, ["size"])).toEqual([1, 2, 3]);
  expect(await matching({}, ["-meta.kind"])).toHaveLength(3);
  expect(await matching({}, [])).toEqual([3, 2, 1]);
});

test("no value and no operator that the parser lets through makes the database fail", async () => {
  const value = fc.oneof(
    fc.string({ unit: "grapheme" }),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
    fc.uuid(),
  );
  const field = fc.constantFrom(
    ...Object.keys(FIELDS).map((name) => name.replace("*", "kind")),
    "meta.year",
    "meta.tags",
  );
  const property = fc.asyncProperty(
    field,
    fc.constantFrom(...OPERATORS),
    fc.oneof(value, fc.array(value, { maxLength: 3 })),
    async (name, operator, operand) => {
      const params = parameters();
      const found = parseFilters({ [`${name}__${operator}`]: operand }, FIELDS, () => undefined);
      fc.pre(!JSON.stringify(found).includes("\\u0000"));
      await database.db.owner.query(
        `select 1 from t where ${filterSql(found, COLUMNS, params)}`,
        params.values,
      );
    },
  );
  await expect(fc.assert(property, { numRuns: 500 })).resolves.toBeUndefined();
});
