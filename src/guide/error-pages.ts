/** A page for each error code, to which `error.doc_url` leads. */
import { ERROR_REASONS, type ErrorReason } from "../domain/errors.ts";
import { ERROR_PAGES, type ErrorPage } from "../schema/error-pages.ts";
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
  const { cause, wayOut, place } = ERROR_PAGES[code];
  return [
    `# \`${code}\``,
    placeText(code, place),
    "## What happened",
    cause,
    "## The way out",
    wayOut,
    "[All error codes](/errors#all-codes)",
  ].join("\n\n");
}

function placeText(code: ErrorReason, place: ErrorPage["place"]): string {
  const answer = `HTTP status **${ERROR_REASONS[code]}**, as \`error.code\` of an answer or a stream.`;
  const run =
    "`processing_state.error.code` of a document whose run ended without a version, and `error.code` of the run.";
  if (place === "answer") return answer;
  return place === "both" ? `${answer} Also ${run}` : `No HTTP answer has it: it is ${run}`;
}
