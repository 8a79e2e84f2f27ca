/** Says which known name a client probably meant. */
import { closest, distance } from "fastest-levenshtein";
import { z } from "zod";

/** Names that are looked at: those that may stand in a header, and are short enough to be compared. */
export const NAMEABLE = /^[A-Za-z0-9_.-]{1,64}$/;
/** Unknown names of one object that are told. */
const MAX_TOLD = 5;
/** A name is meant if no more letters than a third of the longer name differ. */
const MEANT_SHARE = 1 / 3;

/** `; did you mean NAME?`, or nothing if no known name is like this one. */
export function suggestion(name: string, known: readonly string[]): string {
  if (known.length === 0 || !NAMEABLE.test(name)) return "";
  const meant = closest(name, known);
  const allowed = Math.max(1, Math.max(name.length, meant.length) * MEANT_SHARE);
  const letters = distance(name, meant);
  return letters <= allowed && letters < meant.length ? `; did you mean ${meant}?` : "";
}

/** For checks whose messages are shown as they are: tells unknown keys with the names that were meant. */
export function tellUnknownKeys(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code !== "unrecognized_keys" || !(issue.inst instanceof z.ZodObject)) return undefined;
  const known = Object.keys(issue.inst.shape);
  const told = issue.keys
    .filter((key) => NAMEABLE.test(key))
    .slice(0, MAX_TOLD)
    .map((key) => `${key} is not known${suggestion(key, known)}`);
  return told.length === 0 ? undefined : told.join("; ");
}
