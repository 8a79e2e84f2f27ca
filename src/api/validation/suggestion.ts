/** Says which known name a client probably meant. */
import { closest, distance } from "fastest-levenshtein";
import { z } from "zod";
import type { Problem } from "../../schema/requests/problem.ts";

/** Names that are looked at: those that may stand in a header, and are short enough to be compared. */
export const NAMEABLE = /^[A-Za-z0-9_.-]{1,64}$/;
/** Unknown names of one object that are told. */
const MAX_TOLD = 5;
/** The fewest letters that say which longer name is meant. */
const MIN_BEGINNING = 3;
/** A name is meant if no more letters than a third of the longer name differ. */
const MEANT_SHARE = 1 / 3;

/** `; did you mean NAME?`, or nothing if no known name is like this one. */
export function suggestion(name: string, known: readonly string[]): string {
  if (known.length === 0 || !NAMEABLE.test(name)) return "";
  const meant = closest(name, known);
  const allowed = Math.max(1, Math.max(name.length, meant.length) * MEANT_SHARE);
  const letters = distance(name, meant);
  const told = letters <= allowed && letters < meant.length ? meant : begunBy(name, known);
  return told === undefined ? "" : `; did you mean ${told}?`;
}

/** The only known name of which a part begins with `name`, in singular or plural. */
function begunBy(name: string, known: readonly string[]): string | undefined {
  const beginning = name.replace(/s$/, "");
  if (beginning.length < MIN_BEGINNING) return undefined;
  const begun = known.filter((one) => one.split("_").some((part) => part.startsWith(beginning)));
  return begun.length === 1 ? begun[0] : undefined;
}

/** Says of members of the body that the contract has in the query where they belong. */
export function pointToQuery(problems: readonly Problem[], query: z.ZodObject | undefined): Problem[] {
  return problems.map((problem) => {
    const [, name, ...below] = problem.loc;
    const isInQuery =
      typeof name === "string" && below.length === 0 && Object.hasOwn(query?.shape ?? {}, name);
    return isInQuery && problem.type === "extra_forbidden"
      ? { ...problem, msg: `Extra inputs are not permitted; send ${name} in the query` }
      : problem;
  });
}

/** For checks whose messages are shown as they are: tells unknown keys with the names that were meant. */
export function tellUnknownKeys(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code !== "unrecognized_keys" || !(issue.inst instanceof z.ZodObject)) return undefined;
  const known = Object.keys(issue.inst.shape);
  const told = issue.keys
    .filter((key) => NAMEABLE.test(key))
    .slice(0, MAX_TOLD)
    .map((key) => `${key} is unknown${suggestion(key, known)}`);
  return told.length === 0 ? undefined : told.join("; ");
}
