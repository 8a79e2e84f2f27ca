/** A page for each error code, to which `error.doc_url` leads. */
import { ERROR_REASONS, type ErrorReason } from "../../src/domain/errors.ts";
import { ERROR_PAGES } from "../../src/schema/error-pages.ts";
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
    placeText(code),
    "## What happened",
    cause,
    "## The way out",
    wayOut,
    "[All error codes](/errors#all-codes)",
  ].join("\n\n");
}

function placeText(code: ErrorReason): string {
  const answer = `HTTP status **${ERROR_REASONS[code]}**, as \`error.code\` of an answer or a stream.`;
  const run =
    "`processing_state.error.code` of a document whose run ended without a version, and `error.code` of the run.";
  if (OF_RUNS_ALONE.has(code)) return `No HTTP answer has it: it is ${run}`;
  return OF_RUNS_TOO.has(code) ? `${answer} Also ${run}` : answer;
}

const OF_RUNS_ALONE: ReadonlySet<ErrorReason> = new Set<ErrorReason>([
  "encrypted",
  "corrupt",
  "too_large",
  "timeout",
  "out_of_memory",
  "too_complex",
  "no_text",
  "worker_crashed",
  "superseded",
  "cancelled",
]);

/** `strict=true` and chat answer the first three. */
const OF_RUNS_TOO: ReadonlySet<ErrorReason> = new Set<ErrorReason>([
  "empty_file",
  "unsupported_file_type",
  "rejected_by_provider",
  "internal",
]);
