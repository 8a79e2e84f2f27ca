/** Checks packed places that come from a process that is not trusted. */

import type { PackedPlaces } from "./packed.ts";

/** Whether a value from elsewhere has the form of packed places, so that it can be stored and read. */
export function isPackedPlaces(value: unknown): value is PackedPlaces {
  if (typeof value !== "object" || value === null) return false;
  const { contexts, runs, ...others } = value as Record<string, unknown>;
  return (
    typeof runs === "string" &&
    /^[\w-]*$/.test(runs) &&
    Array.isArray(contexts) &&
    contexts.every(isContext) &&
    Object.keys(others).length === 0
  );
}

function isContext(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).every(([field, part]) =>
    field === "page" || field === "slide"
      ? Number.isSafeInteger(part)
      : field === "heading_path"
        ? Array.isArray(part) && part.every(isStorable)
        : CONTEXT_NAMES.has(field) && isStorable(part),
  );
}

const CONTEXT_NAMES: ReadonlySet<string> = new Set(["shape", "sheet", "element", "part"]);

/** Postgres takes neither NUL nor lone surrogates. */
function isStorable(value: unknown): boolean {
  return typeof value === "string" && !value.includes("\0") && value.isWellFormed();
}
