/** The fields of a schema as rows of a table: name, type, whether it is needed, meaning and bounds. */
import { type ApiDocument, resolve, type Schema } from "./document.ts";

/** Deeper fields are told of in the description of what has them. */
const MAX_DEPTH = 4;
const NAMED_VALUES = 12;

interface Row {
  readonly name: string;
  readonly type: string;
  readonly isRequired: boolean;
  readonly text: string;
}

/** @returns a table; empty for a schema without fields */
export function fieldTable(api: ApiDocument, schema: Schema, isRequest: boolean): string {
  const rows = rowsOf(api, schema, { prefix: "", depth: 0, seen: [] });
  if (rows.length === 0) return "";
  const head = isRequest ? ["field", "type", "needed", "meaning"] : ["field", "type", "meaning"];
  return table(
    head,
    rows.map(({ name, type, isRequired, text }) => [
      `\`${name}\``,
      type,
      ...(isRequest ? [isRequired ? "yes" : ""] : []),
      text,
    ]),
  );
}

export function table(head: readonly string[], rows: ReadonlyArray<readonly string[]>): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(cell).join(" | ")} |`;
  return [line(head), `|${head.map(() => "---|").join("")}`, ...rows.map(line)].join("\n");
}

/** A pipe would end the cell, in code too. */
const cell = (text: string): string => text.replaceAll(/\s+/g, " ").replaceAll("|", "\\|");

interface Position {
  readonly prefix: string;
  readonly depth: number;
  /** The named schemas above, which end the rows where one has itself as a part. */
  readonly seen: readonly string[];
}

function rowsOf(api: ApiDocument, schema: Schema, at: Position): Row[] {
  const { schema: inner, suffix, seen } = reach(api, schema, at.seen);
  if (inner === undefined || at.depth > MAX_DEPTH) return [];
  const prefix = at.prefix === "" ? suffix.replace(/^\[\]/, "[]") : `${at.prefix}${suffix}`;
  return propertiesOf(api, inner).flatMap(([key, property, isRequired]) => {
    const name = prefix === "" ? key : `${prefix}.${key}`;
    const row = { name, type: typeText(api, property), isRequired, text: meaning(api, property) };
    return [row, ...rowsOf(api, property, { prefix: name, depth: at.depth + 1, seen })];
  });
}

/** Goes through lists, nulls and references to the object that has fields. */
function reach(
  api: ApiDocument,
  schema: Schema,
  seen: readonly string[],
): { schema: Schema | undefined; suffix: string; seen: readonly string[] } {
  if (schema.$ref !== undefined) {
    if (seen.includes(schema.$ref)) return { schema: undefined, suffix: "", seen };
    const { $ref: name, ...own } = schema;
    return reach(api, { ...resolve(api, { $ref: name } as Schema), ...own }, [...seen, name]);
  }
  if (schema.items !== undefined) {
    const below = reach(api, schema.items, seen);
    return { ...below, suffix: `[]${below.suffix}` };
  }
  const only = single(schema);
  if (only !== undefined) return reach(api, only, seen);
  return { schema, suffix: "", seen };
}

/** The one schema of a choice between it and null. */
function single(schema: Schema): Schema | undefined {
  const others = (schema.anyOf ?? schema.oneOf ?? []).filter(({ type }) => type !== "null");
  return others.length === 1 ? others[0] : undefined;
}

function propertiesOf(api: ApiDocument, schema: Schema): Array<[string, Schema, boolean]> {
  const own = Object.entries(schema.properties ?? {}).map(
    ([key, property]): [string, Schema, boolean] => [
      key,
      property,
      schema.required?.includes(key) ?? false,
    ],
  );
  // One of several kinds of object: every field that one of them has.
  const kinds = [...(schema.allOf ?? []), ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])];
  const others = kinds.flatMap((kind) => propertiesOf(api, resolve(api, kind)));
  const known = new Set<string>();
  return [...own, ...others].filter(([key]) => !known.has(key) && known.add(key));
}

/** `list of text or null`, say. */
export function typeText(api: ApiDocument, part: Schema): string {
  const schema = resolve(api, part);
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return [...new Set(choices.map((one) => typeText(api, one)))].join(" or ");
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
  if (schema.enum !== undefined && schema.enum.length <= NAMED_VALUES)
    return schema.enum.map((value) => `\`${String(value)}\``).join(", ");
  if (schema.type === "array") return `list of ${typeText(api, schema.items ?? {})}`;
  if (schema.type === undefined) return schema.properties === undefined ? "any" : "object";
  const types = typeof schema.type === "string" ? [schema.type] : schema.type;
  return types.map((type) => NAMES[schema.format ?? ""] ?? NAMES[type] ?? type).join(" or ");
}

const NAMES: Readonly<Record<string, string>> = {
  string: "text",
  boolean: "true or false",
  uuid: "uuid",
  "date-time": "time",
  binary: "file",
  uri: "URL",
  email: "e-mail address",
};

/** The description, then the bounds and the default. */
export function meaning(api: ApiDocument, part: Schema): string {
  const schema = resolve(api, part);
  const bounds = boundsOf(api, schema);
  const text = (schema.description ?? "").trim();
  const sentence = text === "" || /[.!?]$/.test(text) ? text : `${text}.`;
  return [escape(sentence), bounds === "" ? "" : `*${bounds}.*`].filter((one) => one !== "").join(" ");
}

function boundsOf(api: ApiDocument, schema: Schema): string {
  const inner = resolve(api, single(schema) ?? schema);
  const range = (min: number | undefined, max: number | undefined, unit: string): string[] => {
    if (min === undefined && max === undefined) return [];
    if (max === undefined) return [`at least ${number(min!)}${unit}`];
    return [min === undefined ? `at most ${number(max)}${unit}` : `${number(min)} to ${number(max)}${unit}`];
  };
  const { maxProperties, default: preset } = inner;
  const known = preset ?? schema.default;
  return [
    ...range(inner.minimum, inner.maximum, ""),
    ...range(inner.minLength, inner.maxLength, " characters"),
    ...range(inner.minItems, inner.maxItems, " items"),
    ...range(undefined, maxProperties, " keys"),
    ...(known === undefined || known === null ? [] : [`default \`${JSON.stringify(known)}\``]),
  ].join(", ");
}

/** The largest numbers bound nothing that anybody sends. */
const number = (value: number): string => (Number.isInteger(value) ? value.toLocaleString("en") : String(value));

/** Descriptions are Markdown, in which an underscore within a word or a lone star means itself. */
export const escape = (text: string): string => text.replaceAll(/(?<!\\)<(?=[a-z/])/gi, "\\<");
