/**
 * The requests of every route as subjects of the cost test: the body is read, validated and answered.
 */
import { ServerResponse } from "node:http";
import { Readable } from "node:stream";
import Koa, { type Context } from "koa";
import { readJsonBody } from "../../../src/api/body/json-body.ts";
import { readForm } from "../../../src/api/body/form.ts";
import { firstSyntaxError } from "../../../src/api/body/json-body-syntax.ts";
import type { Route } from "../../../src/api/route.ts";
import { ROUTES } from "../../../src/api/routes/index.ts";
import { unknownFieldWarnings } from "../../../src/api/validation/unknown-fields.ts";
import { allValues, parsePart } from "../../../src/api/validation/validate.ts";
import { AgentPatch } from "../../../src/schema/agent.ts";
import { VectorStoreSearch } from "../../../src/schema/openai/vector-stores.ts";
import { DocumentUpload } from "../../../src/schema/documents/changes.ts";
import { type Place, placesOf } from "../json-schema-paths.ts";
import { nested, numbered, repeated, type Shape } from "../shape.ts";
import { PLAIN_SHAPES } from "../shapes.ts";
import { answered, nameOf, stringSubjects } from "./queries-and-paths.ts";
import type { Extent, Subject } from "./subject.ts";

const koa = new Koa();

/** Makes the context of a request with this body, without a socket. */
function contextOf(body: Buffer): Context {
  const request = Object.assign(Readable.from([body], { objectMode: false }), {
    headers: { "content-type": "application/json", "content-length": String(body.length) },
    method: "POST",
    url: "/",
  });
  return koa.createContext(request as never, new ServerResponse(request as never)) as Context;
}

/** JSON of a given size in every shape that a parser, a walker or a schema can meet. */
const JSON_SHAPES: readonly Shape[] = [
  nested("[", "]"),
  nested('{"a":', "}"),
  nested('[{"a":[', "]}]"),
  repeated("1,", "[", "1]"),
  repeated("1e400,", "[", "1]"),
  repeated("null,", "[", "null]"),
  repeated('"",', "[", '""]'),
  repeated('"\\u0000",', "[", '""]'),
  repeated('"\\ud800",', "[", '""]'),
  repeated("{},", "[", "{}]"),
  repeated("[[[[[[1]]]]]],", "[", "[]]"),
  repeated('{"a":1,"a":2},', "[", "{}]"),
  numbered("an object of many keys", (key) => `"k${key}":1,`, "{", '"z":1}'),
  numbered("an object of filters", (key) => `"name__k${key}":1,`, "{", '"z":1}'),
  repeated('"a":1,', "{", '"a":1}'),
  repeated('"__proto__":{},', "{", '"a":1}'),
  repeated("k", '{"', '":1}'),
  repeated("\\u0000", '{"', '":1}'),
  repeated("a", '"', '"'),
  repeated("-", '"', '"'),
  repeated("1", '"', '"'),
  repeated(" ", '"', '"'),
  repeated("\\n", '"', '"'),
  repeated("\\u0041", '"', '"'),
  repeated("\\ud800", '"', '"'),
  repeated("é", '"', '"'),
  repeated("a/", '"', '"'),
  repeated("9"),
  repeated(" ", "", "1"),
];

const BROKEN: readonly Shape[] = [
  repeated("["),
  repeated('{"a":'),
  repeated('{"a":[', "", "x"),
  repeated("1,", "["),
  repeated("1,", "[", "]"),
  repeated('"a":1,', "{", "}"),
  repeated("a", '"'),
  repeated("\\", '"'),
  repeated("\\u00", '"'),
  repeated(" "),
  repeated("\n", "[1,", "x"),
  repeated("\u0000"),
  repeated("\u0001", '"', '"'),
  repeated("truefalse"),
  repeated("-"),
  repeated("[],", "", "x"),
];

/** The shapes for a place inside the body, where all of {@link JSON_SHAPES} would show little more. */
const FEW: readonly Shape[] = [
  repeated("1,", "[", "1]"),
  repeated("{},", "[", "{}]"),
  numbered("an object of many keys", (key) => `"k${key}":1,`, "{", '"z":1}'),
  repeated("a", '"', '"'),
  nested('{"a":[', "]}"),
];

/** The shapes of a whole body, which the reader of JSON has met all of before a route's schema sees it. */
const OF_BODIES: readonly Shape[] = [
  ...FEW,
  nested("[", "]"),
  numbered("an object of filters", (key) => `"name__k${key}":1,`, "{", '"z":1}'),
  repeated('"a":1,', "{", '"a":1}'),
  repeated("k", '{"', '":1}'),
  repeated("a/", '"', '"'),
  repeated("9"),
];

const at = ({ name, around, sample }: Place, shapes: readonly Shape[]): Shape[] => [
  ...shapes.map((shape) => ({
    name: `${shape.name} at ${name || "the top"}`,
    make: (length: number) => around(shape.make(length)),
  })),
  {
    name: `many of ${name || "the top"}`,
    make: (length: number) => around(repeated(`${sample},`, "[", `${sample}]`).make(length)),
  },
];

const shapesAt = ({ name }: Place, extent: Extent): readonly Shape[] =>
  extent === "all" ? JSON_SHAPES : name === "" ? OF_BODIES : FEW;

function bodySubject(route: Route, extent: Extent): Subject[] {
  const { body: schema } = route;
  if (schema === undefined) return [];
  const unique = new Map(
    placesOf(schema)
      .flatMap((place) => at(place, shapesAt(place, extent)))
      .map((shape) => [shape.name, shape]),
  );
  return [
    {
      name: `body of ${nameOf(route)}`,
      shapes: [...unique.values()],
      prepare: (text) => contextOf(Buffer.from(text)),
      async run(context) {
        const { parsed } = await readJsonBody(context as Context, { isAnyText: route.hasSecretBody });
        if ("value" in parsed) unknownFieldWarnings(schema, parsed.value);
        return answered(() => {
          const { body } = allValues({
            body: "problems" in parsed ? parsed : parsePart(schema, parsed.value, "body"),
          });
          return route.requestsOf?.(body);
        });
      },
    },
  ];
}

/** The fields of an upload's form that are JSON, and its unknown ones. */
const FORM_SUBJECTS = (["doc_metadata", "tags", "any"] as const).map((name): Subject => ({
  name: `${name} of an upload`,
  shapes: name === "any" ? PLAIN_SHAPES : [...BROKEN, ...JSON_SHAPES],
  // The longest field of a form.
  maxLength: 65_536,
  run: (text) =>
    answered(() => {
      const warnings: string[] = [];
      readForm(
        {
          fields: { space_id: "01900000-0000-7000-8000-000000000010", [name]: text as string },
          repeated: {},
          otherFiles: [],
          file: { value: null, filename: "a.md", contentType: "text/plain", size: 1 },
          problems: [],
        },
        DocumentUpload,
        { json: ["doc_metadata"], lists: ["tags"] },
        (warning) => warnings.push(warning),
      );
      return warnings;
    }),
}));

/** Filters of a search in a vector store, whose form is checked by code of our own. */
const ATTRIBUTE_FILTERS: readonly Shape[] = [
  nested('{"type":"and","filters":[', "]}"),
  repeated('{"type":"eq","key":"k","value":1},', '{"type":"or","filters":[', "{}]}"),
  repeated('{"type":"and","filters":[{}]},', '{"type":"or","filters":[', "{}]}"),
  repeated('"a",', '{"type":"in","key":"k","value":[', '"a"]}'),
  repeated("a", '{"type":"eq","key":"', '","value":1}'),
  repeated("a", '{"type":"eq","key":"k","value":"', '"}'),
  repeated("a", '{"type":"', '","key":"k","value":1}'),
];

const CONFIGS: readonly Shape[] = [
  ...FEW,
  repeated('"a.b",', '{"hosts":[', '"a"]}'),
  repeated("a.", '{"hosts":["', 'a"]}'),
  repeated("a-", '{"hosts":["*.', '!"]}'),
  repeated("*.", '{"hosts":["', '"]}'),
  repeated('"a",', '{"server":"s","tools":[', '"a"]}'),
  numbered("fields beside hosts", (key) => `"k${key}":1,`, "{", '"hosts":[]}'),
];

/** A value inside a body, at a place that the walk through its schema does not find. */
const hiddenSubject = (
  name: string,
  shapes: readonly Shape[],
  schema: NonNullable<Route["body"]>,
  around: (json: string) => string,
): Subject => ({
  name,
  shapes,
  prepare: (text) => contextOf(Buffer.from(around(text))),
  async run(context) {
    const { parsed } = await readJsonBody(context as Context);
    return answered(() =>
      allValues({ body: "problems" in parsed ? parsed : parsePart(schema, parsed.value, "body") }),
    );
  },
});

const HIDDEN_SUBJECTS: readonly Subject[] = [
  ...["http_fetch", "mcp"].map((tool) =>
    hiddenSubject(
      `config of ${tool}`,
      CONFIGS,
      AgentPatch,
      (json) => `{"tool_attachments":[{"tool_id":"${tool}","config":${json}}]}`,
    ),
  ),
  hiddenSubject(
    "filters of a search in a vector store",
    ATTRIBUTE_FILTERS,
    VectorStoreSearch,
    (json) => `{"query":"q","filters":${json}}`,
  ),
];

export const requestSubjects = (extent: Extent): Subject[] => [
  {
    name: "reader of JSON bodies",
    shapes: [...BROKEN, ...JSON_SHAPES],
    prepare: (text) => contextOf(Buffer.from(text)),
    run: async (context) => answered(await bodyOf(context as Context)),
  },
  { name: "place of a JSON fault", shapes: BROKEN, run: (text) => firstSyntaxError(`${text as string}!`) },
  ...HIDDEN_SUBJECTS,
  ...FORM_SUBJECTS,
  ...ROUTES.flatMap((route) => bodySubject(route, extent)),
  ...stringSubjects(),
];

async function bodyOf(context: Context): Promise<() => unknown> {
  const { parsed } = await readJsonBody(context);
  return () => allValues({ body: parsed });
}
