/**
 * Says what is wrong with a request in the words of FastAPI and pydantic.
 * @see https://docs.pydantic.dev/latest/errors/validation_errors
 */

export type Location = readonly (string | number)[];

/** One element of a 422's `detail`. `loc` begins with `body`, `query`, `path` or `header`. */
export interface Problem {
  readonly type: string;
  readonly loc: Location;
  readonly msg: string;
  readonly input?: unknown;
  readonly ctx?: Readonly<Record<string, unknown>>;
}

/** Everything that is wrong with a request. It is answered with 422. */
export class ValidationProblems extends Error {
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(`${problems.length} validation problem(s)`);
    this.name = "ValidationProblems";
    this.problems = problems;
  }
}

/** A required field that is absent. @param input what should have it; null for forms, queries, no body. */
export function missing(loc: Location, input: unknown = null): Problem {
  return { type: "missing", loc, msg: "Field required", input };
}

/** A value forbidden by a rule unknown to pydantic. @param reason a sentence without capital and stop. */
export function valueError(loc: Location, reason: string, input?: unknown): Problem {
  return { type: "value_error", loc, msg: `Value error, ${reason}`, input, ctx: { error: reason } };
}

/** A string that is not a UUID, described as pydantic's UUID parser does. */
export function uuidParsing(loc: Location, input: string): Problem {
  const error = describeUuidFault(input);
  return { type: "uuid_parsing", loc, msg: `Input should be a valid UUID, ${error}`, input, ctx: { error } };
}

export function literalError(loc: Location, expected: readonly unknown[], input: unknown): Problem {
  const names = expected.map((value) => (typeof value === "string" ? `'${value}'` : String(value)));
  const list = names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
  return { type: "literal_error", loc, msg: `Input should be ${list}`, input, ctx: { expected: list } };
}

const GROUP_LENGTHS = [8, 4, 4, 4, 12];

function describeUuidFault(text: string): string {
  let index = 0;
  for (const character of text) {
    if (!/[0-9a-fA-F-]/.test(character)) return `invalid character: found \`${character}\` at ${index}`;
    index++;
  }
  const groups = text.split("-");
  if (groups.length === 1 && text.length !== 32) return `invalid length: found ${text.length}`;
  if (groups.length !== GROUP_LENGTHS.length)
    return `invalid group count: expected 5, found ${groups.length}`;
  const wrong = groups.findIndex((group, position) => group.length !== GROUP_LENGTHS[position]);
  const lengths = `expected ${GROUP_LENGTHS[wrong]}, found ${groups[wrong]?.length}`;
  return `invalid group length in group ${wrong}: ${lengths}`;
}
