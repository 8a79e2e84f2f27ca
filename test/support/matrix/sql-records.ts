/** The records of the statements that a stack's processes run, and how they are read back. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const OF_EVERY_REQUEST = /authenticate_|touch_caller_keys|append_audit_rows|rate_limits/;

export interface SqlRecord {
  /** The `X-Request-Id` of the request that the statement served. */
  readonly request: string | null;
  /** The calling functions of src/db as `file.function`, innermost first. */
  readonly functions: readonly string[];
  /** The organization of its transaction; null outside of a tenant. */
  readonly organization: string | null;
  readonly text: string;
  readonly values: readonly unknown[];
  /** The number of rows that it read or changed. */
  readonly rows?: number;
}

/** Returns the settings that make a stack's processes record their statements in `folder`. */
export function recordingSettings(folder: string): Record<string, string> {
  return {
    SQL_RECORD_FOLDER: folder,
    NODE_OPTIONS: `--import=${pathToFileURL(join(import.meta.dirname, "record-sql.ts")).href}`,
  };
}

export async function readRecords(folder: string): Promise<SqlRecord[]> {
  const files = await readdir(folder);
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), "utf8")));
  return texts.flatMap((text) =>
    text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as SqlRecord),
  );
}

/**
 * Returns the statements of a request without those of every request; ids and numbers in their text are left
 * out.
 */
export function statementsOf(records: readonly SqlRecord[], request: string): string[] {
  return records
    .filter((one) => one.request === request && !OF_EVERY_REQUEST.test(one.text))
    .map((one) => one.text.replaceAll(/'[0-9a-f-]{36}'|'\d+'/g, "?"));
}

/** Turns a value into JSON; types that JSON lacks are marked. */
export function pack(value: unknown): unknown {
  if (value instanceof Uint8Array) return { $bytes: Buffer.from(value).toString("base64") };
  if (value instanceof Date) return { $date: value.toISOString() };
  if (typeof value === "bigint") return String(value);
  if (Array.isArray(value)) return value.map(pack);
  // The driver sends other objects as JSON.
  return typeof value === "object" && value !== null ? JSON.stringify(value) : value;
}

/** Turns it back into the value that the driver was given. */
export function unpack(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(unpack);
  if (typeof value !== "object" || value === null) return value;
  const { $bytes, $date } = value as { $bytes?: string; $date?: string };
  if ($bytes !== undefined) return Buffer.from($bytes, "base64");
  return $date === undefined ? value : new Date($date);
}
