/** Reads front matter: the few forms of YAML in which metadata is written, in one pass over the lines. */

import type { ExtractedMetadata } from "../../domain/text-unit.ts";
import { described, isoDate } from "../metadata.ts";

/** Metadata is short: longer front matter is read as text. */
const MAX_FRONT_MATTER_CHARS = 4096;

/** A longer block is not front matter, whatever its lines look like. */
const MAX_MAPPING_CHARS = 64 * 1024;

export interface FrontMatter {
  /** The number of lines that it takes, with its dashes; 0 if they are to be read as Markdown. */
  readonly lines: number;
  readonly metadata: ExtractedMetadata;
  /** True for a mapping of a form that is not read, which gives no metadata. */
  readonly ignored: boolean;
}

type Value = string | readonly string[];

/**
 * The front matter at the start of a text; undefined if there is none. Keys are not indented, and values are
 * scalars or lists of scalars. A block with anything else (nested maps, anchors, tags, `? ` keys, more than
 * {@link MAX_FRONT_MATTER_CHARS}) is ignored as a whole.
 *
 * This is not a YAML library because the time of the one we use grows with the fifth power of the depth of
 * nesting.
 * @see docs/decisions/0029-libraries-or-our-own.md
 */
export function readFrontMatter(lines: readonly string[]): FrontMatter | undefined {
  if (lines[0]?.trimEnd() !== "---") return undefined;
  const end = lines.findIndex((line, at) => at > 0 && (line.trimEnd() === "---" || line.trimEnd() === "..."));
  if (end < 0) return undefined;
  const block = lines.slice(1, end);
  const first = block.find((line) => !isSkipped(line));
  if (first === undefined || !opensMapping(first.slice(0, MAX_FRONT_MATTER_CHARS))) return undefined;
  const chars = block.reduce((sum, line) => sum + line.length + 1, 0);
  const values = chars > MAX_FRONT_MATTER_CHARS ? undefined : readMapping(block);
  if (values !== undefined) return { lines: end + 1, metadata: metadataOf(values), ignored: false };
  const isMapping = chars <= MAX_MAPPING_CHARS && block.every(mayBeMapping);
  return { lines: isMapping ? end + 1 : 0, metadata: {}, ignored: true };
}

/** A key that is not indented, quoted or not, and the text after its colon. */
const KEY =
  /^(?:"([^"\\]*)"[ \t]*|'([^']*)'[ \t]*|([^\s"'#&*!?|>%@`,:{}[\]-][^:#"'{}[\],]*)):(?:[ \t]([\s\S]*))?$/;

function isSkipped(line: string): boolean {
  const content = line.trimStart();
  return content === "" || content.startsWith("#");
}

function opensMapping(line: string): boolean {
  return /^(?:\?[ \t]|[{&!%])/.test(line) || KEY.test(line);
}

/** Whether the line may belong to a mapping, nested or not. A block with another line is Markdown. */
function mayBeMapping(line: string): boolean {
  return (
    isSkipped(line) ||
    /^[ \t]/.test(line) ||
    /^[\]}]/.test(line) ||
    /^-(?:[ \t]|$)/.test(line) ||
    KEY.test(line)
  );
}

interface Reading {
  readonly lines: readonly string[];
  at: number;
}

/** Undefined unless all values are scalars or lists of scalars and no key comes twice. */
function readMapping(lines: readonly string[]): ReadonlyMap<string, Value> | undefined {
  const values = new Map<string, Value>();
  const reading: Reading = { lines, at: 0 };
  while (reading.at < lines.length) {
    const line = lines[reading.at] ?? "";
    reading.at++;
    if (isSkipped(line)) continue;
    const match = KEY.exec(line);
    if (match === null) return undefined;
    const key = (match[1] ?? match[2] ?? match[3] ?? "").trim();
    const value = readValue(reading, (match[4] ?? "").trim());
    if (value === undefined || values.has(key)) return undefined;
    values.set(key, value);
  }
  return values;
}

function readValue(reading: Reading, written: string): Value | undefined {
  if (written === "" || written.startsWith("#")) return readNextLines(reading);
  if (written.startsWith("[")) return flowList(reading, written);
  if (/^[|>][+-]?(?:[ \t]+#.*)?$/.test(written))
    return indentedLines(reading).join(written.startsWith("|") ? "\n" : " ");
  const isQuoted = written.startsWith('"') || written.startsWith("'");
  const more = isQuoted ? [] : indentedLines(reading);
  return scalar([written, ...more.map((line) => line.trim())].join(" "));
}

/** The value of a key with nothing after its colon: a list of lines with dashes, indented text, or none. */
function readNextLines(reading: Reading): Value | undefined {
  while (reading.at < reading.lines.length && isSkipped(reading.lines[reading.at] ?? "")) reading.at++;
  const first = reading.lines[reading.at] ?? "";
  if (DASHED.test(first)) return dashedList(reading, indentOf(first));
  return scalar(
    indentedLines(reading)
      .map((line) => line.trim())
      .join(" "),
  );
}

const DASHED = /^[ \t]*-(?:[ \t]|$)/;

function dashedList(reading: Reading, indent: number): readonly string[] | undefined {
  const items: string[] = [];
  for (; reading.at < reading.lines.length; reading.at++) {
    const line = reading.lines[reading.at] ?? "";
    if (isSkipped(line)) continue;
    if (!DASHED.test(line)) return /^[ \t]/.test(line) ? undefined : items;
    const item = indentOf(line) === indent ? scalar(line.trimStart().slice(1).trim()) : undefined;
    if (item === undefined) return undefined;
    items.push(item);
  }
  return items;
}

/** `[a, "b, c"]`, on one line or several. */
function flowList(reading: Reading, written: string): readonly string[] | undefined {
  let list = written.replace(/\][ \t]+#.*$/, "]");
  while (!list.endsWith("]") && reading.at < reading.lines.length) {
    const line = reading.lines[reading.at] ?? "";
    if (KEY.test(line)) break;
    list += ` ${line.trim()}`;
    reading.at++;
  }
  if (!list.endsWith("]")) return undefined;
  const items: string[] = [];
  // No two alternatives match the same character, so that the expression never backtracks.
  const item = /[ \t]*((?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*')[ \t]*|[^\s"',[\]{}][^,[\]{}]*|)(?:,|$)/y;
  const inner = list.slice(1, -1).trimEnd();
  for (let at = 0; at < inner.length; at = item.lastIndex) {
    item.lastIndex = at;
    const match = item.exec(inner);
    const value = match === null ? undefined : scalar((match[1] ?? "").trim());
    if (value === undefined) return undefined;
    items.push(value);
  }
  return items;
}

/** The following indented lines, without their common indentation and without blank lines at the end. */
function indentedLines(reading: Reading): string[] {
  const start = reading.at;
  while (reading.at < reading.lines.length && /^[ \t]|^$/.test(reading.lines[reading.at] ?? "")) reading.at++;
  const lines = reading.lines.slice(start, reading.at);
  const indent = lines.reduce(
    (least, line) => (line.trim() === "" ? least : Math.min(least, indentOf(line))),
    Infinity,
  );
  while (lines.at(-1)?.trim() === "") lines.pop();
  return lines.map((line) => line.slice(Math.min(indent, line.length)));
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}

const ESCAPES: Readonly<Record<string, string>> = {
  n: "\n",
  t: "\t",
  r: "\r",
  "0": "",
  "/": "/",
  '"': '"',
  "\\": "\\",
  " ": " ",
};

/** The text of a scalar; empty for values that are not text (`true`, `null`). Undefined for no scalar. */
function scalar(written: string): string | undefined {
  const double = /^"((?:[^"\\]|\\.)*)"[ \t]*(?:#.*)?$/.exec(written)?.[1];
  if (double !== undefined)
    return double.replace(
      /\\(?:u([\da-fA-F]{4})|x([\da-fA-F]{2})|(.))/g,
      (_, four?: string, two?: string, one?: string) =>
        one === undefined
          ? String.fromCharCode(Number.parseInt(four ?? two ?? "", 16))
          : (ESCAPES[one] ?? one),
    );
  const single = /^'((?:[^']|'')*)'[ \t]*(?:#.*)?$/.exec(written)?.[1];
  if (single !== undefined) return single.replaceAll("''", "'");
  const comment = written.search(/(?:^|[ \t])#/);
  const plain = (comment < 0 ? written : written.slice(0, comment)).trim();
  if (/^[&*!|>%@`"'{}[\],]|^[-?:](?:\s|$)|:(?:\s|$)/.test(plain)) return undefined;
  return /^(?:true|false|null|~)$/i.test(plain) ? "" : plain;
}

function metadataOf(values: ReadonlyMap<string, Value>): ExtractedMetadata {
  const words = (...keys: readonly string[]): string | undefined => {
    const value = keys.map((key) => values.get(key)).find((found) => found !== undefined && found.length > 0);
    return typeof value === "string" ? value : value?.filter((entry) => entry.trim() !== "").join(", ");
  };
  return described({
    title: words("title"),
    author: words("author", "authors"),
    language: words("language", "lang"),
    created_at: isoDate(words("date", "created", "created_at")),
    modified_at: undefined,
  });
}
