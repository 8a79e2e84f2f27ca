/** Cleans what a document says about itself: title, author, language, dates. */

import type { ExtractedMetadata } from "../domain/text-unit.ts";
import { storableText } from "./parser.ts";

const MAX_VALUE_CHARS = 500;

/** The values that are not blank, each on one line and cut to {@link MAX_VALUE_CHARS} characters. */
export function described(found: {
  readonly [Key in keyof ExtractedMetadata]: string | undefined;
}): ExtractedMetadata {
  const filled = Object.entries(found).flatMap(([key, value]) => {
    const clean = storableText(value ?? "")
      .replace(/\s+/g, " ")
      .trim()
      .slice(0, MAX_VALUE_CHARS);
    return clean === "" ? [] : [[key, clean.toWellFormed()] as const];
  });
  return Object.fromEntries(filled);
}

/** The date in ISO 8601 and UTC; undefined if it is none. A date without a zone is read as UTC. */
export function isoDate(value: string | Date | undefined): string | undefined {
  if (value === undefined || value === "") return undefined;
  const text =
    typeof value === "string" && /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?$/.test(value.trim())
      ? `${value.trim()}Z`
      : value;
  const date = new Date(text);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}
