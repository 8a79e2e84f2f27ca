/** Checks the fields of a streamed form as those of a JSON body are checked, all problems at once. */
import type { z } from "zod";
import { type Problem, ValidationProblems, missing } from "../../schema/requests/problem.ts";
import type { ReceivedFile, ReceivedUpload } from "./uploads.ts";
import { findUnusable, parsePart } from "../validation/validate.ts";

/**
 * Returns the file and the fields of a form.
 * @param schema describes the fields, and has a field `file` for the file.
 * @throws ValidationProblems that name the missing file and every field that is wrong.
 */
export function readForm<T, S extends z.ZodObject>(
  upload: ReceivedUpload<T>,
  schema: S,
): { file: ReceivedFile<T>; fields: z.output<S> } {
  const problems: Problem[] = [];
  for (const problem of upload.problems) {
    if (problem.kind !== "file_is_text") continue;
    problems.push({
      type: "value_error",
      loc: ["body", "file"],
      msg: "Value error, Expected UploadFile, received: <class 'str'>",
      input: problem.input,
      ctx: { error: {} },
    });
  }
  if (upload.file === null && problems.length === 0) problems.push(missing(["body", "file"]));
  // An empty field counts as missing, as in FastAPI's forms; only `path` may be empty, and names the root
  // then.
  const given = Object.fromEntries(
    Object.entries(upload.fields).filter(([name, value]) => value !== "" || name === "path"),
  );
  problems.push(...findUnusable(given, "body"));
  const parsed = parsePart(schema, { ...given, file: true }, "body");
  if ("problems" in parsed)
    problems.push(
      ...parsed.problems.map((problem) =>
        problem.type === "missing" ? { ...problem, input: null } : problem,
      ),
    );
  if (problems.length > 0 || upload.file === null || !("value" in parsed))
    throw new ValidationProblems(problems);
  return { file: upload.file, fields: parsed.value as z.output<S> };
}
