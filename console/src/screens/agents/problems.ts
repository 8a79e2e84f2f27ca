import { HoldfastError } from "@holdfast/client";
import { fieldErrorsOf } from "../../api/client.ts";
import type { Fields } from "./fields.ts";
import type { messages } from "./messages.ts";
import { FIELDS } from "./fields.ts";
import { hasProblem } from "./tools.ts";

type Texts = Pick<typeof messages.en, "needed" | "badModel">;
type Words = { readonly [K in keyof Texts]: string };

const MODEL = /^[!-~]+$/;

/** What is wrong with the fields: what the browser sees as it is typed, and what the service refused. */
export function problemsOfForm(
  fields: Fields,
  {
    error,
    isTouched,
    texts,
  }: { readonly error: unknown; readonly isTouched: boolean; readonly texts: Words },
): Readonly<Record<string, string>> {
  return {
    ...fieldErrorsOf(error),
    ...(isTouched && fields.name.trim() === "" ? { name: texts.needed } : {}),
    ...(MODEL.test(fields.model) ? {} : { model: texts.badModel }),
  };
}

/** Whether the browser sees nothing that the service would refuse. */
export const maySend = (fields: Fields): boolean =>
  fields.name.trim() !== "" && MODEL.test(fields.model) && !hasProblem(fields.tool_attachments);

/** A refusal that is of no field of the form is shown beside the button. */
export function isOfNoField(error: unknown): boolean {
  if (error === null || error === undefined) return false;
  if (!(error instanceof HoldfastError)) return true;
  const names = Object.keys(fieldErrorsOf(error));
  return !names.some((name) => FIELDS.some((field) => name === field || name.startsWith(`${field}.`)));
}
