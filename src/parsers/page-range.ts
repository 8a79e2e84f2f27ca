/** Parses pages even if some crash the parser: the second parser reads these, or they are left out. */

import { DomainError } from "../domain/errors.ts";
import type { ParsedDocument } from "../domain/text-unit.ts";
import type { ParseOptions, ParserPool } from "./process/child-process.ts";
import type { ParseInput } from "./parser.ts";

/** Codes with which a document can end its parser's process. */
const ENDINGS: ReadonlySet<string> = new Set(["timeout", "out_of_memory", "corrupt", "worker_crashed"]);

/**
 * Parses a range of pages. A range that ends its parser is tried with the second parser and then left out
 * with a warning; if it is the whole document, its error is thrown. Otherwise throws as `ParserPool.parse`
 * does.
 *
 */
export async function parsePages(
  pool: ParserPool,
  input: ParseInput,
  pages: readonly [number, number],
  options: ParseOptions,
): Promise<ParsedDocument> {
  const range: ParseInput = { ...input, pages };
  try {
    return await pool.parse(range, options);
  } catch (error) {
    if (!isEnding(error)) throw error;
    return withSecondParser(pool, range, options, error);
  }
}

async function withSecondParser(
  pool: ParserPool,
  range: ParseInput,
  options: ParseOptions,
  first: DomainError,
): Promise<ParsedDocument> {
  try {
    return await pool.parse({ ...range, fallback: true }, options);
  } catch (error) {
    if (!isEnding(error)) throw error;
  }
  const total = await pool.pageCount(range, options).catch(() => null);
  const [from, to] = range.pages ?? [1, 1];
  if (total === null || (from === 1 && to >= total)) throw first;
  return {
    parser_name: "none",
    units: [],
    page_count: total,
    metadata: {},
    warnings: [{ pages: [from, Math.min(to, total)], code: first.code }],
  };
}

function isEnding(error: unknown): error is DomainError {
  return error instanceof DomainError && ENDINGS.has(error.code);
}
