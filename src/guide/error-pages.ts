/** A page for each error code, to which `error.doc_url` leads, and the table of all of them. */
import { ERROR_REASONS, type ErrorReason } from "../domain/errors.ts";
import { ERROR_PAGES } from "../schema/error-pages.ts";
import type { MadePage } from "./stage.ts";

const codes = (Object.keys(ERROR_PAGES) as ErrorReason[]).toSorted(
  (a, b) => ERROR_REASONS[a] - ERROR_REASONS[b] || (a < b ? -1 : 1),
);

export function errorPages(): MadePage[] {
  return codes.map((code) => ({
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
    "[All error codes](/errors#every-code)",
  ].join("\n\n");
}

/** What the page about errors ends with. */
export function errorTable(): string {
  const rows = codes.map(
    (code) => `| ${ERROR_REASONS[code]} | [\`${code}\`](/errors/${code}) | ${ERROR_PAGES[code].cause} |`,
  );
  return [
    "## Every code",
    ["| status | code | what happened |", "|---|---|---|", ...rows].join("\n"),
    "",
  ].join("\n\n");
}
