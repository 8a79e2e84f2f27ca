/** The pool of parser processes: the only way in which the worker parses what may hang, crash or grow. */

import { tmpdir } from "node:os";
import { DomainError } from "../../domain/errors.ts";
import type { Owner } from "../../domain/fair-queue.ts";
import type { ParsedDocument } from "../../domain/text-unit.ts";
import type { ChildRequest, ChildTask } from "./child-protocol.ts";
import { inputSizeBytes, patienceMs, type OcrSettings, type ParseInput } from "../parser.ts";
import type { ChildOutcome } from "./parser-child.ts";
import { createParserChildren, type ChildrenOptions } from "./parser-children.ts";

export interface ParserPoolOptions extends ChildrenOptions {
  /** Absent: pictures and scans are not read. */
  readonly ocr?: OcrSettings;
}

/** For whom a document is parsed. */
export interface ParseOptions {
  readonly signal?: AbortSignal | undefined;
  /** Absent: the service itself. */
  readonly owner?: Owner;
}

export interface ParserPool {
  /**
   * Parses a document in a process of its own. Throws what the parser throws; `timeout`, `out_of_memory` where the process was killed for
   * it; `worker_crashed` where two processes died with the document, which each had alone; the signal's reason where the caller gave up (the process is dead by then). Waiting for a free process
   * does not count as parsing time; it is shared as {@link createParserChildren} says.
   */
  parse(input: ParseInput, options?: ParseOptions): Promise<ParsedDocument>;
  /** Pages of the document without reading their text, null where its format has none; throws as `parse` does. */
  pageCount(input: ParseInput, options?: ParseOptions): Promise<number | null>;
  /** Kills all processes and resolves when they are gone; what is under way or comes later is refused. Repeating is harmless. */
  close(): Promise<void>;
}

const THE_SERVICE: Owner = { organizationId: "", userId: null };

const MEBIBYTE = 1024 * 1024;

export const PARSER_ENTRY = new URL("./child-main.ts", import.meta.url);

const DEFAULTS: ParserPoolOptions = {
  entry: PARSER_ENTRY,
  size: 2,
  spares: 3,
  timeoutMs: 600_000,
  maxRssBytes: 1024 * MEBIBYTE,
  maxOldSpaceMb: 512,
  maxDocumentsPerChild: 200,
  recycleRssBytes: 300 * MEBIBYTE,
  recycleCpuSeconds: 600,
  // Two cores for as long as a document may take, after what the documents before it may have taken.
  maxCpuSeconds: 1_800,
  folder: tmpdir(),
};

/** One death may be anybody's doing; a document that two processes died with is not tried on a third. */
const ATTEMPTS = 2;

export function createParserPool(given: Partial<ParserPoolOptions> = {}): ParserPool {
  const options: ParserPoolOptions = { ...DEFAULTS, ...given };
  const children = createParserChildren(options);

  const run = async (
    task: ChildTask,
    input: ParseInput,
    { signal, owner = THE_SERVICE }: ParseOptions = {},
  ): Promise<ChildOutcome> => {
    const request: ChildRequest = { task, input: { ...input, ocr: options.ocr } };
    const timeoutMs = Math.min(options.timeoutMs, await patienceMs(input));
    const size = await inputSizeBytes(input).catch(() => 0);
    let outcome: ChildOutcome = { kind: "lost", started: false };
    for (let attempt = 0; attempt < ATTEMPTS && outcome.kind === "lost"; attempt++)
      outcome = await children.use({
        owner,
        size,
        signal,
        work: (child) => child.run(request, timeoutMs, signal),
      });
    if (outcome.kind === "failed") throw outcome.error;
    if (outcome.kind === "lost")
      throw outcome.started ? crashed() : new Error("The parser process ended before it took the document.");
    return outcome;
  };

  return {
    async parse(input, given) {
      const outcome = await run("parse", input, given);
      if (outcome.kind !== "parsed") throw new Error(`A parser process answered ${outcome.kind} to parse.`);
      return outcome.document;
    },
    async pageCount(input, given) {
      const outcome = await run("page_count", input, given);
      if (outcome.kind !== "page_count")
        throw new Error(`A parser process answered ${outcome.kind} to page_count.`);
      return outcome.pages;
    },
    close: () => children.close(),
  };
}

function crashed(): DomainError {
  return new DomainError(
    "worker_crashed",
    "The parser stopped twice while it had this document alone in hand.",
  );
}
