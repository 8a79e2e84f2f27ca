/** Compares what a page shows of an output with what was printed. */
import type { Block, Snippet } from "./guide-pages.ts";

/** Fields whose values are compared too; of others only the type. */
const EXACT: ReadonlySet<string> = new Set(["code", "type", "param", "pipeline_status", "role", "ok"]);

/** What of a snippet's output is not as its page shows; empty if all is. */
export function differences(snippet: Snippet, printed: string): string[] {
  const wrong = snippet.outputs.flatMap((output) => {
    return output.language === "text"
      ? missingLines(output.code, printed)
      : differencesOfJson(output, printed);
  });
  const status = snippet.answers === null ? null : `@status ${snippet.answers}`;
  if (status !== null && snippet.language === "sh" && !printed.includes(status)) wrong.push(`no ${status}`);
  return wrong.map((text) => `docs/guide/${snippet.page}.md:${snippet.line} (${snippet.language}): ${text}`);
}

/** Lines that were not printed, where numbers may be others and `…` is any text. */
function missingLines(shown: string, printed: string): string[] {
  const lines = printed.split("\n").map((line) => line.trimEnd());
  return shown
    .split("\n")
    .filter((line) => line.trim() !== "")
    .filter((line) => !lines.some((other) => patternOf(line).test(other)))
    .map((line) => `does not print ${JSON.stringify(line)} but ${JSON.stringify(printed.slice(0, 500))}`);
}

function patternOf(line: string): RegExp {
  const parts = line.split(/(…|\d+(?:\.\d+)?)/).map((part, at) => {
    if (at % 2 === 0) return part.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
    return part === "…" ? ".*" : "\\d+(?:\\.\\d+)?";
  });
  return new RegExp(`^${parts.join("")}$`);
}

function differencesOfJson(output: Block, printed: string): string[] {
  const values = printed.split("\n").filter((line) => /^[[{]/.test(line));
  const last = values.at(-1);
  if (last === undefined) return [`prints no JSON but ${JSON.stringify(printed.slice(0, 500))}`];
  return compare(JSON.parse(output.code) as unknown, JSON.parse(last) as unknown, "answer");
}

/** Everything that is shown must be there with its type; an answer may have more. */
function compare(shown: unknown, real: unknown, path: string): string[] {
  const key = /\.(\w+)$/.exec(path)?.[1] ?? "";
  if (kindOf(shown) !== kindOf(real)) return [`${path} is ${JSON.stringify(real)}`];
  if (EXACT.has(key) && shown !== real) return [`${path} is ${JSON.stringify(real)}`];
  if (Array.isArray(shown))
    return shown.flatMap((element, at) => compare(element, (real as unknown[])[at], `${path}[${at}]`));
  if (kindOf(shown) !== "object") return [];
  return Object.entries(shown as object).flatMap(([name, value]) =>
    compare(value, (real as Record<string, unknown>)[name], `${path}.${name}`),
  );
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}
