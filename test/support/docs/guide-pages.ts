/**
 * Reads the code of the guide's pages. A comment before a block, or before a group of tabs, speaks for it:
 * `<!-- not run: REASON -->`, or `<!-- answers: 404 -->` for a call that is refused on purpose.
 */
import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";

const GUIDE = join(import.meta.dirname, "../../../docs/guide");

const LANGUAGES = ["sh", "python", "ts"] as const;
export type Language = (typeof LANGUAGES)[number];

/** A fenced block of a page. */
export interface Block {
  readonly page: string;
  /** Of the fence, from 1. */
  readonly line: number;
  /** What the fence names: a {@link Language}, `json` or `text` for output, or anything else. */
  readonly language: string;
  readonly code: string;
  /** Which of the page's groups it is in; a block outside of tabs is a group by itself. */
  readonly group: number;
  /** The heading above it. */
  readonly heading: string;
  readonly notRun: string | null;
  /** The status of a call that is refused on purpose. */
  readonly answers: number | null;
}

/** Names of pages, without `.md`. */
export const PAGES: readonly string[] = globSync("*.md", { cwd: GUIDE })
  .map((file) => basename(file, ".md"))
  .toSorted();

export const readPage = (page: string): string => readFileSync(join(GUIDE, `${page}.md`), "utf8");

export const isLanguage = (name: string): name is Language => (LANGUAGES as readonly string[]).includes(name);
/** Of a block that shows what the code before it prints. */
export const isOutput = ({ language }: Block): boolean => language === "json" || language === "text";

interface Reading {
  readonly blocks: Block[];
  heading: string;
  group: number;
  isGrouped: boolean;
  notRun: string | null;
  answers: number | null;
}

export function blocksOf(page: string, text = readPage(page)): Block[] {
  const lines = text.split("\n");
  const reading: Reading = {
    blocks: [],
    heading: "",
    group: 0,
    isGrouped: false,
    notRun: null,
    answers: null,
  };
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]!;
    const language = /^```(\S+)/.exec(line)?.[1];
    if (language === undefined) {
      readLine(line, reading);
      continue;
    }
    const end = lines.indexOf("```", at + 1);
    if (end === -1) throw new Error(`${page}.md:${at + 1}: the block has no end`);
    const { heading, group, notRun, answers } = reading;
    const code = lines.slice(at + 1, end).join("\n");
    reading.blocks.push({ page, line: at + 1, language, code, group, heading, notRun, answers });
    if (!reading.isGrouped) endGroup(reading);
    at = end;
  }
  return reading.blocks;
}

function readLine(line: string, reading: Reading): void {
  if (line.startsWith("## ")) reading.heading = line.slice(3);
  if (line.startsWith("::: code-group")) reading.isGrouped = true;
  else if (line === ":::") endGroup(reading);
  reading.notRun = /^<!-- not run: (.+) -->$/.exec(line)?.[1] ?? reading.notRun;
  const answers = /^<!-- answers: (\d{3}) -->$/.exec(line)?.[1];
  if (answers !== undefined) reading.answers = Number(answers);
}

function endGroup(reading: Reading): void {
  reading.isGrouped = false;
  reading.group += 1;
  reading.notRun = null;
  reading.answers = null;
}

/** Code of one language that is run, and what the page shows of its output. */
export interface Snippet extends Block {
  readonly language: Language;
  readonly outputs: readonly Block[];
}

/**
 * The snippets of a page in one language, in order. A block `json` after a group shows what its shell prints,
 * and a block `text` what its Python and its TypeScript print; or its shell, if that is all there is.
 */
export function snippetsOf(page: string, language: Language): Snippet[] {
  const blocks = blocksOf(page);
  return blocks.flatMap((block) => {
    if (block.language !== language || block.notRun !== null) return [];
    const outputs: Block[] = [];
    const hasTabs = blocks.some((other) => other.group === block.group && other.language !== language);
    for (let group = block.group + 1; ; group++) {
      const output = blocks.find((other) => other.group === group);
      if (output === undefined || !isOutput(output)) break;
      if (output.notRun !== null) continue;
      const isOfShell = output.language === "json" || !hasTabs;
      if (isOfShell === (language === "sh") || !hasTabs) outputs.push(output);
    }
    return [{ ...block, language, outputs }];
  });
}
