/**
 * Holds the commands in docs/*.md. A command of the CLI must exist with its options and be run by a test; the
 * line of another program must be run by a test, or the document must say that it was not run here.
 */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { describe, expect, test } from "vitest";
import { createProgram } from "../../src/cli/program.ts";

const ROOT = join(import.meta.dirname, "../..");
/** What is in docs/guide is run as a whole, by test/docs/guide. */
const DOCUMENTS = globSync("docs/*.md", { cwd: ROOT });
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");
const TESTS = globSync(["test/**/*.ts", ".ci/run"], { cwd: ROOT })
  .filter((path) => !path.includes("docs/commands.test"))
  .map((path) => read(path).replaceAll(/\s+/g, " "))
  .join("\n");

const NOT_RUN = /not run here/i;
const PROGRAMS = (
  "holdfast node npm npx docker helm kubectl pg_dump pg_dumpall pg_restore psql gcloud aws mc rsync " +
  "systemctl journalctl temporal promtool git curl tcld openssl tar install skopeo crane caddy nginx buildah"
).split(" ");

/** Commands that tests write in another way, by their first two words: the text of such a call. */
const RUN_AS: Readonly<Record<string, string>> = {
  "pg_dump -Fc": '(await postgresTool("pg_dump"), ["-Fc"',
  "pg_restore --exit-on-error": 'await postgresTool("pg_restore"), [ "--exit-on-error"',
  "temporal workflow": '[ "workflow", "show"',
};

interface Line {
  readonly document: string;
  readonly text: string;
  /** The document says that nobody ran it here. */
  readonly isNotRun: boolean;
}

/** The lines of a document's code blocks; lines that a backslash continues are one. */
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
    // The last paragraph before a block, or a comment in it, speaks for the whole block.
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

/** The words of a command, without settings, sudo and prompts in front of it, and without its comment. */
function commandOf(text: string): string[] {
  const words = text.replace(/\s+#\s.*$/, "").split(/\s+/);
  const first = words.findIndex((word) => !/^(?:[A-Z_0-9]+=.*|sudo|as_holdfast|exec|\$)$/.test(word));
  return first === -1 ? [] : words.slice(first);
}

/** The command that the words name, and the words that name it. */
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

/** True if a test calls it: with its words as a list of arguments, or after `holdfast`. */
function isTested(path: readonly string[]): boolean {
  const list = path.map((word) => `"${escaped(word)}"`).join(",\\s*");
  return new RegExp(`\\[\\s*${list}|holdfast(?: --)? ${escaped(path.join(" "))}`).test(TESTS);
}

const lines = DOCUMENTS.flatMap((document) => [...blockLines(document), ...inlineCommands(document)]);
const program = await createProgram();

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
