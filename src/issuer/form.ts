/** Reads the forms of the development issuer's own pages. */
import type { IncomingMessage } from "node:http";

/** A form with the subject of a person. */
const MAX_FORM_BYTES = 4_096;

/** @throws Error if it is longer than a form of these pages can be */
export async function readForm(request: IncomingMessage): Promise<URLSearchParams> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) {
    text += String(chunk);
    if (text.length > MAX_FORM_BYTES) throw new Error("the form is too long");
  }
  return new URLSearchParams(text);
}
