/**
 * Checks the commands that the documents tell an operator to run. Those of the CLI exist with these options
 * and are run by a test. Any other program's command is run by a test, or the document says that it was not
 * run here.
 */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { describe, expect, test } from "vitest";
import { createProgram } from "../../src/cli/program.ts";

const ROOT = join(import.meta.dirname, "../..");
const DOCUMENTS = globSync("docs/*.md", { cwd: ROOT });
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");
const TESTS = globSync(["test/**/*.ts", ".ci/run"], { cwd: ROOT })
  .filter((path) => !path.includes("documented-commands"))
  .map(read)
  .join("\n");

const NOT_RUN = /not run here/i;
const PROGRAMS = (
  "holdfast node npm npx docker helm kubectl pg_dump pg_dumpall pg_restore psql gcloud aws mc rsync " +
  "systemctl journalctl temporal " +
  "promtool git curl tcld openssl tar install skopeo crane caddy nginx buildah"
).split(" ");

/**
 * Commands that tests run in another form than the document's: the first two words of the command, and the
 * text of the call in a test.
 */
const RUN_AS: Readonly<Record<string, string>> = {
  "pg_dump -Fc": '(await postgresTool("pg_dump"), ["-Fc"',
  "pg_restore --exit-on-error": '(await postgresTool("pg_restore"), ["--exit-on-error"',
  "temporal workflow": '["workflow", "show"',
};

interface Line {
  readonly document: string;
  readonly text: string;
  /** The document says that the command was not run here. */
  readonly isNotRun: boolean;
}

/** Returns the lines of a document's code blocks, with lines that continue after a backslash joined. */
function blockLines(document: string): Line[] {
  const lines = read(document)
    .replaceAll(/ *\\\n */g, " ")
    .split("\n");
  const found: Line[] = [];
  let said = "";
  let isFenced = false;
  lines.forEach((line, index) => {
    if (line.startsWith("```")) {
      isFenced = !isFenced;
      return;
    }
    const isCode = isFenced || (/^ {4}\S/.test(line) && !/^\s*[-*|]/.test(line));
    if (isCode)
      found.push({ document, text: line.trim(), isNotRun: NOT_RUN.test(line) || NOT_RUN.test(said) });
    // The last text before a block, or a comment in it, applies to the whole block.
    else if (line.trim() !== "") said = `${lines[index - 1]?.trim() === "" ? "" : said} ${line}`;
    if (isCode && /^\s*#/.test(line)) said += ` ${line}`;
  });
  return found;
}

function inlineCommands(document: string): Line[] {
  return [...read(document).matchAll(/`(holdfast [^`]+)`/g)].map(([, text]) => ({
    document,
    text: text!.replaceAll("\n", " "),
    isNotRun: false,
  }));
}

/** Removes what precedes the command (settings, sudo, a prompt) and its comment. */
function commandOf(text: string): string[] {
  const words = text.replace(/\s+#\s.*$/, "").split(/\s+/);
  const first = words.findIndex((word) => !/^(?:[A-Z_0-9]+=.*|sudo|as_holdfast|exec|\$)$/.test(word));
  return first === -1 ? [] : words.slice(first);
}

/** Finds the command that the words name, and how many of the words are its name. */
function resolve(
  program: Command,
  words: readonly string[],
): { readonly command: Command; readonly path: readonly string[] } {
  let command = program;
  const path: string[] = [];
  for (const word of words) {
    const next = command.commands.find((one) => one.name() === word);
    if (next === undefined) break;
    command = next;
    path.push(word);
  }
  return { command, path };
}

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** Whether a test runs the command: its words occur as a list of arguments, or after `holdfast`. */
function isTested(path: readonly string[]): boolean {
  const list = path.map((word) => `"${escaped(word)}"`).join(",\\s*");
  return new RegExp(`\\[\\s*${list}|holdfast(?: --)? ${escaped(path.join(" "))}`).test(TESTS);
}

const lines = DOCUMENTS.flatMap((document) => [...blockLines(document), ...inlineCommands(document)]);
const program = createProgram();

describe("a command of the CLI in a document", () => {
  const ours = lines
    .map((line) => ({ ...line, words: commandOf(line.text) }))
    .filter(({ words }) => words[0] === "holdfast" && words.length > 1);

  test.each(ours)("$document: $text", ({ words, isNotRun }) => {
    const { command, path } = resolve(program, words.slice(1));
    expect(path, "there is no such command").not.toEqual([]);
    const options = words
      .filter((word) => word.startsWith("--"))
      .map((word) => word.replace(/=.*$/, "").replace(/[.,;:)]+$/, ""));
    const known = ["--help", ...command.options.map((option) => option.long)];
    expect(options.filter((option) => !known.includes(option))).toEqual([]);
    expect(isNotRun || isTested(path), `no test runs holdfast ${path.join(" ")}`).toBe(true);
  });
});

describe("a command of another program in a document", () => {
  const others = lines
    .map((line) => ({ ...line, words: commandOf(line.text) }))
    .filter(({ words }) => words[0] !== "holdfast" && PROGRAMS.includes(words[0]!));

  test.each(others)("$document: $text", ({ words, isNotRun }) => {
    const start = words.slice(0, 2).join(" ");
    expect(
      isNotRun || TESTS.includes(RUN_AS[start] ?? start),
      "say `not run here`, or run it in a test",
    ).toBe(true);
  });
});
