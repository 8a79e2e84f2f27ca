/** The only place that cleans what a document says about itself before it is kept. */

import type { ExtractedMetadata } from "../domain/text-unit.ts";
import { storableText } from "./parser.ts";

const MAX_VALUE_CHARS = 500;

/** What is filled, on one line and bounded. */
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

/** In ISO 8601 and UTC; undefined where it is no date. A date without a zone is taken as UTC. */
export function isoDate(value: string | Date | undefined): string | undefined {
  if (value === undefined || value === "") return undefined;
  const text =
    typeof value === "string" && /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?$/.test(value.trim())
      ? `${value.trim()}Z`
      : value;
  const date = new Date(text);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}
