/** The fields of a schema as rows of a table: name, type, whether it is needed, meaning and bounds. */
import { type ApiDocument, resolve, type Schema } from "./document.ts";

/** Deeper fields are told of in the description of what has them. */
const MAX_DEPTH = 4;
const NAMED_VALUES = 12;

interface Row {
  readonly name: string;
  /** In how many other fields it is. */
  readonly depth: number;
  readonly type: string;
  readonly isRequired: boolean;
  readonly text: string;
}

/** @returns a table; empty for a schema without fields */
export function fieldTable(api: ApiDocument, schema: Schema, isRequest: boolean): string {
  const rows = rowsOf(api, schema, { depth: 0, seen: [] });
  if (rows.length === 0) return "";
  const head = isRequest ? ["field", "type", "needed", "meaning"] : ["field", "type", "meaning"];
  return table(
    head,
    rows.map(({ name, depth, type, isRequired, text }) => [
      `${"·\u00a0".repeat(depth)}\`${name}\``,
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
  readonly depth: number;
  /** The named schemas above, which end the rows where one has itself as a part. */
  readonly seen: readonly string[];
}

function rowsOf(api: ApiDocument, schema: Schema, { depth, seen: above }: Position): Row[] {
  const { schema: inner, seen } = reach(api, schema, above);
  if (inner === undefined || depth > MAX_DEPTH) return [];
  return propertiesOf(api, inner).flatMap(([name, property, isRequired]) => [
    { name, depth, type: typeText(api, property), isRequired, text: meaning(api, property) },
    ...rowsOf(api, property, { depth: depth + 1, seen }),
  ]);
}

/** Goes through lists, nulls and references to the object that has fields. */
function reach(
  api: ApiDocument,
  schema: Schema,
  seen: readonly string[],
): { readonly schema: Schema | undefined; readonly seen: readonly string[] } {
  if (schema.$ref !== undefined) {
    if (seen.includes(schema.$ref)) return { schema: undefined, seen };
    return reach(api, resolve(api, schema), [...seen, schema.$ref]);
  }
  const only = schema.items ?? single(schema);
  return only === undefined ? { schema, seen } : reach(api, only, seen);
}

/** The one schema of a choice between it and null. */
function single(schema: Schema): Schema | undefined {
  const others = (schema.anyOf ?? schema.oneOf ?? []).filter(({ type }) => type !== "null");
  return others.length === 1 ? others[0] : undefined;
}

function propertiesOf(api: ApiDocument, schema: Schema): Array<[string, Schema, boolean]> {
  const own = Object.entries(schema.properties ?? {}).map(([key, property]): [string, Schema, boolean] => [
    key,
    property,
    schema.required?.includes(key) ?? false,
  ]);
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
  return [sentence, bounds === "" ? "" : `*${bounds}.*`].filter((one) => one !== "").join(" ");
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
  const text = [
    ...range(inner.minimum, inner.maximum, ""),
    ...range(inner.minLength, inner.maxLength, " characters"),
    ...range(inner.minItems, inner.maxItems, " items"),
    ...range(undefined, maxProperties, " keys"),
    ...(known === undefined || known === null ? [] : [`default \`${JSON.stringify(known)}\``]),
  ].join(", ");
  return text.replace(/^[a-z]/, (first) => first.toUpperCase());
}

const number = (value: number): string =>
  Number.isInteger(value) ? value.toLocaleString("en") : String(value);
