/**
 * Patterns with which the OpenAPI document says what checks refuse. The checks themselves are code, because
 * their problems say more than that a pattern does not match; test/schema/requests/patterns.test.ts shows
 * that both mean the same.
 */
import type { FieldType, Operator } from "../../domain/requests/conditions.ts";

/** What `String.prototype.trim` removes. Each language has white space of its own, so it is written out. */
const SPACE = "\\u0009-\\u000d\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff";
const CONTROL = "\\u0000-\\u001f\\u007f-\\u009f";

/** Any text but NUL, which is refused anywhere in a request. */
export const TEXT = "^[^\\u0000]*$";
/** Says that no check narrows a text, not even that for NUL. */
export const ANY_TEXT = "^[\\s\\S]*$";
export const NOT_BLANK = `^[^\\u0000]*[^\\u0000${SPACE}][^\\u0000]*$`;
export const NOT_BLANK_WITHOUT_SLASH = `^[^/\\u0000]*[^/\\u0000${SPACE}][^/\\u0000]*$`;

/** A part of a path: neither empty nor `.` or `..`. */
const NAME = `[^/\\\\${CONTROL}]`;
const START = `[^/.\\\\${CONTROL}]`;
const PART = `(?:${START}${NAME}*|\\.${START}${NAME}*|\\.\\.${NAME}+)`;
const PARTS = `${PART}(?:/${PART})*`;
export const PATH = `^${PARTS}$`;
export const PATH_OR_PREFIX = `^${PARTS}/?$`;
/** The root is `""`, and one slash at the end of a path does not count. */
export const PATH_OR_ROOT = `^(?:/{0,2}|${PARTS}/?)$`;

type Fields = Readonly<Record<string, FieldType>>;

const escaped = (name: string): string => name.replaceAll(".", "\\.");
const isOpen = (name: string): boolean => name.endsWith(".*");
const KEY = "[^\\u0000]+";

/** The elements of `order_by`; `doc_metadata.*` stands for each key of `doc_metadata`. */
export function orderPattern(fields: Fields): string {
  const names = Object.keys(fields).map((name) =>
    isOpen(name) ? escaped(name.slice(0, -1)) + KEY : escaped(name),
  );
  return `^-?(?:${names.join("|")})$`;
}

/** The keys of `filters`. What follows the last two underscores is an operator. */
export function filterPattern(
  fields: Fields,
  operatorsOf: Readonly<Record<FieldType, readonly Operator[]>>,
): string {
  const keys = Object.entries(fields).map(([name, type]) => {
    const operators = `__(?:${operatorsOf[type].join("|")})`;
    if (!isOpen(name)) return `${escaped(name)}(?:${operators})?`;
    // Without an operator there are no two underscores in a row.
    const bare = "_?(?:[^_\\u0000]_?)*";
    return `${escaped(name.slice(0, -1))}(?:${KEY}${operators}|(?=[^\\u0000])${bare})`;
  });
  return `^(?:${keys.join("|")})$`;
}
