/** What stands in a path is checked by what its name means, and a name that means nothing is a mistake. */
import { expect, test } from "vitest";
import { API_ROUTES } from "../../src/api/routes/index.ts";
import { pathParameters } from "../../src/schema/path-parameters.ts";

const ID = "01900000-0000-7000-8000-000000000001";

test("each name has its schema", () => {
  const schema = pathParameters("/spaces/:space_id/members/:user_id")!;
  expect(schema.parse({ space_id: ID, user_id: ID })).toEqual({ space_id: ID, user_id: ID });
  expect(schema.safeParse({ space_id: ID, user_id: "nobody" }).success).toBe(false);
  expect(pathParameters("/spaces")).toBeUndefined();
});

test("a name that means nothing, or something of every object, is refused", () => {
  for (const name of ["spaceid", "toString"])
    expect(() => pathParameters(`/spaces/:${name}`)).toThrow(`nothing says what :${name}`);
});

test("every route checks every name of its path", () => {
  expect(API_ROUTES.length).toBeGreaterThan(100);
  for (const { path, params } of API_ROUTES)
    expect(Object.keys(params?.shape ?? {})).toEqual([...path.matchAll(/:(\w+)/g)].map(([, name]) => name));
});
