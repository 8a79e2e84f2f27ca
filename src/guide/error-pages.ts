/** A page for each error code, to which `error.doc_url` leads. */
import { ERROR_REASONS, type ErrorReason } from "../domain/errors.ts";
import { ERROR_PAGES } from "../schema/error-pages.ts";
import type { MadePage } from "./stage.ts";

export function errorPages(): MadePage[] {
  return (Object.keys(ERROR_PAGES) as ErrorReason[]).map((code) => ({
    path: `errors/${code}.md`,
    title: code,
    text: pageText(code),
    look: { prev: false, next: false, outline: false },
  }));
}

function pageText(code: ErrorReason): string {
  const { cause, wayOut } = ERROR_PAGES[code];
  return [
    `# \`${code}\``,
    `HTTP status **${ERROR_REASONS[code]}**, as \`error.code\` of an answer, a stream, or a run that ended.`,
    "## What happened",
    cause,
    "## The way out",
    wayOut,
    "[All error codes](/errors#all-codes)",
  ].join("\n\n");
}
