/** Checks the fields of a streamed form as those of a JSON body are checked, all problems at once. */
import type { z } from "zod";
import { type Problem, ValidationProblems, missing, valueError } from "../../schema/requests/problem.ts";
import { JSON_LIMITS, limitPassed } from "./json-limits.ts";
import type { ReceivedFile, ReceivedUpload } from "./uploads.ts";
import { unknownFieldWarnings, warning } from "../validation/unknown-fields.ts";
import { findUnusable, parsePart, readStrings } from "../validation/validate.ts";

interface FormShape {
  /** Fields whose text is JSON. */
  readonly json?: readonly string[];
  /** Fields that may come more than once; their text may also be a JSON list of all values. */
  readonly lists?: readonly string[];
}

interface ReadForm<T, Fields> {
  readonly file: ReceivedFile<T>;
  readonly fields: Fields;
}

/**
 * Returns the file and the fields of a form.
 * @param schema describes the fields, and has a field `file` for the file.
 * @param warn takes each value of the header `Warning`: for what the form does not have, and for what came
 *   again and was passed over. Also called if the form is refused.
 * @throws ValidationProblems that name the missing file and every field that is wrong.
 */
export function readForm<T, S extends z.ZodObject>(
  upload: ReceivedUpload<T>,
  schema: S,
  { json = [], lists = [] }: FormShape,
  warn: (warning: string) => void,
): ReadForm<T, z.output<S>> {
  const dropped = Object.fromEntries(upload.otherFiles.map((name) => [name, ""]));
  unknownFieldWarnings(schema, { ...upload.fields, ...dropped }).forEach(warn);
  for (const name of Object.keys(upload.repeated))
    if (Object.hasOwn(schema.shape, name) && !lists.includes(name))
      warn(warning(`${name} was sent more than once; the last one is used`));
  const problems = problemsOfFile(upload);
  // An empty field counts as missing, as in FastAPI's forms; only `path` may be empty: the root then.
  const given = Object.fromEntries(
    Object.entries(upload.fields).filter(([name, value]) => value !== "" || name === "path"),
  );
  const read = Object.entries(given).map(([name, text]): [string, unknown] => {
    if (json.includes(name)) return [name, readJson(text)];
    if (!lists.includes(name)) return [name, text];
    const all = upload.repeated[name];
    return [name, all ?? (text.trimStart().startsWith("[") ? readJson(text) : [text])];
  });
  for (const [name, value] of read)
    if (value === NOT_JSON)
      problems.push({ type: "json_invalid", loc: ["body", name], msg: "JSON decode error", input: {} });
  const known = Object.fromEntries(read.filter(([, value]) => value !== NOT_JSON));
  problems.push(...findUnusable(known, "body"));
  const parsed = parsePart(schema, readStrings(schema, { ...known, file: true }), "body");
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

function problemsOfFile<T>({ file, problems }: ReceivedUpload<T>): Problem[] {
  const textual = problems.filter((problem) => problem.kind === "file_is_text");
  if (file === null && textual.length === 0) return [missing(["body", "file"])];
  const isMore = problems.some(({ kind }) => kind === "another_file");
  return [
    ...textual.map(({ input }) => ({
      type: "value_error",
      loc: ["body", "file"],
      msg: "Value error, Expected UploadFile, received: <class 'str'>",
      input,
      ctx: { error: {} },
    })),
    ...(isMore ? [valueError(["body", "file"], "a request can contain only one file")] : []),
  ];
}

const NOT_JSON = Symbol("not JSON");

/** Text that is nested deeper than a JSON body may be counts as none. */
function readJson(text: string): unknown {
  if (limitPassed(Buffer.from(text), JSON_LIMITS) !== null) return NOT_JSON;
  try {
    return JSON.parse(text);
  } catch {
    return NOT_JSON;
  }
}
