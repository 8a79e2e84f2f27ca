/** The problems of a 422 as an answer shows them. */
import type { z } from "zod";
import { answerError } from "../../../src/api/errors/answer-error.ts";
import { parsePart } from "../../../src/api/validation/validate.ts";
import { type Problem, ValidationProblems } from "../../../src/schema/requests/problem.ts";

export const problem = (
  type: string,
  loc: (string | number)[],
  msg: string,
  input: unknown,
  ctx?: Record<string, unknown>,
) => ({
  type,
  loc,
  msg,
  input,
  ...(ctx === undefined ? {} : { ctx }),
});

/** Returns what the answer says about `input`, which does not fit `schema`. */
export function problemsOf(
  schema: z.ZodType,
  input: unknown,
  part: "body" | "query" | "path" = "body",
): unknown[] {
  const parsed = parsePart(schema, input, part);
  const problems: Problem[] = "problems" in parsed ? parsed.problems : [];
  return answerError(new ValidationProblems(problems)).body.detail as unknown[];
}
