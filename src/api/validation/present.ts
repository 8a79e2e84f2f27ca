/** Shows problems with what was sent: shortened, and without secrets. */
import type { Problem } from "../../schema/requests/problem.ts";

const MAX_ECHO_CHARACTERS = 1_000;
const SECRET_FIELD = /(^|_)(secret|password|token|keys?|authorization|credentials)$/i;

export function presentProblem({ type, loc, msg, input, ctx }: Problem): Record<string, unknown> {
  const shown = { type, loc: loc.map(shorten), msg: shorten(msg) };
  return {
    ...shown,
    ...(input === undefined ? {} : { input: echo(input, loc) }),
    ...(ctx === undefined
      ? {}
      : { ctx: Object.fromEntries(Object.entries(ctx).map(([name, value]) => [name, shorten(value)])) }),
  };
}

/** Returns the input as the answer may repeat it: short, and without secrets. */
function echo(input: unknown, loc: Problem["loc"]): unknown {
  if (SECRET_FIELD.test(String(loc.at(-1)))) {
    if (typeof input === "string") return "[redacted]";
    if (Array.isArray(input)) return [];
  }
  if (typeof input !== "object" || input === null) return shorten(input);
  let isShown = echoed.get(input);
  if (isShown === undefined) {
    isShown = fitsEcho(input) && !holdsSecret(input);
    echoed.set(input, isShown);
  }
  if (isShown) return input;
  return Array.isArray(input) ? [] : {};
}

/** Decisions by object: many problems may show the same object, which may be as large as a body. */
const echoed = new WeakMap<object, boolean>();

/** Keys and quotes of the input may be as long as a body. */
export function shorten<T>(value: T): T | string {
  if (typeof value !== "string" || value.length <= MAX_ECHO_CHARACTERS) return value;
  return `${value.slice(0, MAX_ECHO_CHARACTERS).replace(/[\ud800-\udbff]$/, "")}…`;
}

/** True if the value is short as JSON. Looks at no more of it than may be shown, however large it is. */
function fitsEcho(input: object): boolean {
  let left = MAX_ECHO_CHARACTERS;
  const open: unknown[] = [input];
  while (open.length > 0 && left >= 0) {
    const value = open.pop();
    left -= typeof value === "string" ? value.length : 1;
    if (typeof value !== "object" || value === null) continue;
    // Each member takes at least one character.
    const members = Object.entries(value).slice(0, MAX_ECHO_CHARACTERS);
    left -= members.reduce((sum, [key]) => sum + (Array.isArray(value) ? 1 : key.length), 0);
    for (const [, member] of members) open.push(member);
  }
  return left >= 0 && JSON.stringify(input).length <= MAX_ECHO_CHARACTERS;
}

function holdsSecret(input: object): boolean {
  return Object.keys(input).some((key) => SECRET_FIELD.test(key));
}
