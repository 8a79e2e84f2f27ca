/** A parser process whose parser does what the document says: hang, grow, crash, and worse. */

import { readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { env } from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import type { ParsedDocument } from "../../../src/domain/text-unit.ts";
import { serveParsers } from "../../../src/parsers/process/child-serve.ts";
import type { ParseInput, Parser } from "../../../src/parsers/parser.ts";

const held: unknown[] = [];

function documentOf(...texts: string[]): ParsedDocument {
  const units = texts.map((text) => ({ type: "paragraph" as const, text, page: null, heading_path: [] }));
  return { parser_name: "misbehaving", units, page_count: null, metadata: {}, warnings: [] };
}

const behaviours: Record<string, (argument: string) => ParsedDocument | Promise<ParsedDocument>> = {
  pid: () => documentOf(String(process.pid)),
  spin(marker) {
    if (marker !== "") writeFileSync(join(tmpdir(), marker), "spinning");
    for (;;);
  },
  async wait(milliseconds) {
    await sleep(Number(milliseconds));
    return documentOf(String(process.pid));
  },
  async grow() {
    for (;;) {
      held.push(Buffer.alloc(8 * 1024 * 1024, 1));
      await sleep(5);
    }
  },
  async flood() {
    const units = documentOf("x".repeat(8 * 1024 * 1024)).units;
    for (;;)
      await new Promise((resolve) => process.send?.({ kind: "units", units }, undefined, undefined, resolve));
  },
  reserve: () => documentOf(String(Buffer.allocUnsafeSlow(4 * 1024 ** 3).length)),
  burn(milliseconds) {
    const { user, system } = process.cpuUsage();
    for (let taken = 0; taken < Number(milliseconds) * 1_000;) {
      const now = process.cpuUsage({ user, system });
      taken = now.user + now.system;
    }
    return documentOf(String(process.pid));
  },
  heap() {
    for (;;) held.push(Array.from({ length: 100_000 }, (_, index) => ({ index })));
  },
  abort: () => process.abort(),
  exit: () => process.exit(3),
  kill() {
    process.kill(process.pid, "SIGKILL");
    for (;;);
  },
  throw() {
    throw new TypeError("The parser has a bug.");
  },
  many: (count) =>
    documentOf(...Array.from({ length: Number(count) }, (_, index) => `unit ${index} ${"x".repeat(2000)}`)),
  environment: () => documentOf("none", ...Object.keys(env)),
};

/**
 * Parses a document of 60 pages. The page that the argument names ends the parser the first time that it is
 * read, or with `both` the first two times.
 */
function pages(input: ParseInput, argument: string): ParsedDocument {
  const [first, last] = input.pages ?? [1, 60];
  const killer = Number.parseInt(argument, 10);
  const isDeadly =
    killer >= first && killer <= last && (input.fallback !== true || argument.endsWith("both"));
  if (isDeadly) process.abort();
  const units = Array.from({ length: Math.min(last, 60) - first + 1 }, (_, index) => ({
    type: "paragraph" as const,
    text: `page ${first + index}`,
    page: first + index,
    heading_path: [],
  }));
  return {
    ...documentOf(),
    parser_name: input.fallback === true ? "second" : "first",
    units,
    page_count: 60,
  };
}

/** Reads the document as `behaviour` or `behaviour:argument`. */
async function behave(input: ParseInput): Promise<ParsedDocument> {
  const [name = "", argument = ""] = (
    input.path === undefined ? Buffer.from(input.bytes ?? []) : readFileSync(input.path)
  )
    .toString()
    .split(":", 2);
  if (name === "pages") return pages(input, argument);
  const behaviour = behaviours[name];
  if (behaviour === undefined) throw new Error(`No behaviour is called ${name}.`);
  return behaviour(argument);
}

const misbehaving: Parser = {
  name: "misbehaving",
  runsIn: "child",
  parse: behave,
  pageCount: async () => 60,
};

await serveParsers({ parsers: () => misbehaving, warmUp: async () => undefined });
