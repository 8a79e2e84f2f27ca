/** Query and path of every route as subjects of the cost test. */
import { answerError } from "../../../src/api/errors/answer-error.ts";
import type { Route } from "../../../src/api/route.ts";
import { ROUTES } from "../../../src/api/routes/index.ts";
import { allValues, findUnusable, parsePart } from "../../../src/api/validation/validate.ts";
import { nested, numbered, repeated, type Shape } from "../shape.ts";
import { PLAIN_SHAPES } from "../shapes.ts";
import type { Subject } from "./subject.ts";

/** Values of filters. */
const FILTERS: readonly Shape[] = [
  repeated('"01900000-0000-7000-8000-000000000010",', '{"created_by__in":[', '""]}'),
  repeated('"2026-01-31",', '{"created_at__in":[', '""]}'),
  repeated("2026-01-31T", '{"unused_since__lt":"', '"}'),
  repeated("a", '{"name__icontains":"', '"}'),
  repeated("__", '{"', '":1}'),
];

export const nameOf = (route: Route): string => `${route.method} ${route.fullPath}`;

/** Includes the error text of a refused request in its cost. */
export function answered(check: () => unknown): unknown {
  try {
    return check();
  } catch (error) {
    const { status, body } = answerError(error);
    if (status >= 500) throw error;
    return JSON.stringify(body);
  }
}

/** Query and path of all routes; values of one schema are measured once, by the name of all that have it. */
export function stringSubjects(): Subject[] {
  const subjects = new Map<unknown, Subject>();
  for (const route of ROUTES) {
    for (const part of ["query", "path"] as const) {
      const schema = part === "query" ? route.query : route.params;
      for (const [field, its] of Object.entries(schema?.shape ?? {})) {
        const name = `${part} ${field} of ${nameOf(route)}`;
        const same = subjects.get(its);
        subjects.set(
          its,
          same === undefined
            ? stringSubject(name, { part, field, schema: schema! })
            : { ...same, name: `${same.name}, ${name}` },
        );
      }
    }
  }
  return [...subjects.values()];
}

function stringSubject(
  name: string,
  { part, field, schema }: { part: "query" | "path"; field: string; schema: NonNullable<Route["params"]> },
): Subject {
  return {
    name,
    shapes: [
      ...(field === "filters" ? FILTERS : []),
      ...PLAIN_SHAPES,
      nested("[", "]"),
      nested('{"a":', "}"),
      repeated("1,", "[", "1]"),
      numbered("filters", (key) => `"name${key}":1,`, "{", '"z":1}'),
    ],
    // A request's line and headers have at most 16 KiB.
    maxLength: 16_384,
    run: (text) =>
      answered(() => {
        const given = { [field]: text };
        const problems = findUnusable(given, part);
        return allValues({ [part]: problems.length > 0 ? { problems } : parsePart(schema, given, part) });
      }),
  };
}
