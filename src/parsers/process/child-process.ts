/** The pool of parser processes, in which the worker parses files that may hang, crash or use up memory. */

import { tmpdir } from "node:os";
import { DomainError } from "../../domain/errors.ts";
import type { Owner } from "../../process/concurrency/fair-queue.ts";
import type { ParsedDocument } from "../../domain/text-unit.ts";
import type { ChildOutcome, ChildTask } from "./child-protocol.ts";
import { inputSizeBytes, patienceMs, type OcrSettings, type ParseInput } from "../parser.ts";
import type { ParserChild } from "./parser-child.ts";
import { createParserChildren, type ChildrenOptions, type ParserChildren } from "./parser-children.ts";

export interface ParserPoolOptions extends ChildrenOptions {
  /** Default: none; pictures and scans are not read. */
  readonly ocr?: OcrSettings;
}

/** A document that is fetched when its turn has come, so that one that waits takes no room. */
export interface LateInput {
  /** Bytes of the document. */
  readonly size: number;
  /** Called when a process is free, and again if that one died; disposed of when the process is done. */
  readonly fetch: () => Promise<FetchedInput>;
}

export type FetchedInput = { readonly input: ParseInput } & AsyncDisposable;

export interface ParseOptions {
  readonly signal?: AbortSignal | undefined;
  /** For whom the document is parsed. Default: the service itself. */
  readonly owner?: Owner;
  /** Text of more characters is `too_large`. Default: no bound but that of answers. */
  readonly maxCharacters?: number;
}

export interface ParserPool {
  /**
   * Parses a document in a parser process, which has no other document at the same time. Waiting for a free
   * process does not count as parsing time; owners share processes fairly.
   *
   * @throws what the parser throws; DomainError `timeout` or `out_of_memory` if the process was killed for
   * it, and `worker_crashed` if two processes died with the document; `storage_unavailable` if its file
   * cannot be written; what `fetch` throws; the signal's reason if the caller aborted (the process is dead
   * by then); Error if the pool is closed.
   */
  parse(input: ParseInput | LateInput, options?: ParseOptions): Promise<ParsedDocument>;
  /** Counts pages without reading their text; null if the format has none. Throws as `parse` does. */
  pageCount(input: ParseInput, options?: ParseOptions): Promise<number | null>;
  /** Kills all processes and resolves when they are gone; calls are refused from then on. Idempotent. */
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
  // recycleCpuSeconds, and then two cores for the whole time-out of a document.
  maxCpuSeconds: 1_800,
  folder: tmpdir(),
};

/** A process may die for any reason, but a document that took two with it is not tried a third time. */
const ATTEMPTS = 2;

/**
 * Starts no process before the first document. Options that are not given have their {@link DEFAULTS}.
 *
 * @example
 * const pool = createParserPool({ size: 2 });
 * const document = await pool.parse({ fileType: "PDF", path: "plan.pdf" });
 * await pool.close();
 */
export function createParserPool(given: Partial<ParserPoolOptions> = {}): ParserPool {
  const options: ParserPoolOptions = { ...DEFAULTS, ...given };
  const children = createParserChildren(options);

  const run = runnerOf(children, options);

  return {
    async parse(input, given) {
      const outcome = await run({ task: "parse", maxCharacters: given?.maxCharacters }, input, given);
      if (outcome.kind !== "parsed") throw new Error(`A parser process answered ${outcome.kind} to parse.`);
      return outcome.document;
    },
    async pageCount(input, given) {
      const outcome = await run({ task: "page_count" }, input, given);
      if (outcome.kind !== "page_count")
        throw new Error(`A parser process answered ${outcome.kind} to page_count.`);
      return outcome.pages;
    },
    close: () => children.close(),
  };
}

type Runner = (
  task: ChildTask,
  input: ParseInput | LateInput,
  options?: ParseOptions,
) => Promise<ChildOutcome>;

/** Runs a task in a process, and in another one if that died. */
export function runnerOf(
  children: ParserChildren,
  { timeoutMs: most, ocr }: Pick<ParserPoolOptions, "timeoutMs" | "ocr">,
): Runner {
  return async (task, given, { signal, owner = THE_SERVICE } = {}) => {
    const { size, fetch } = "fetch" in given ? given : await atHand(given);
    const work = async (child: ParserChild): Promise<ChildOutcome> => {
      await using fetched = await fetch();
      const { input } = fetched;
      const timeoutMs = Math.min(most, await patienceMs(input));
      return await child.run({ ...task, input: { ...input, ocr } }, timeoutMs, signal);
    };
    let outcome: ChildOutcome = { kind: "lost", started: false };
    for (let attempt = 0; attempt < ATTEMPTS && outcome.kind === "lost"; attempt++)
      outcome = await children.use({ owner, size, signal, work });
    if (outcome.kind === "failed") throw outcome.error;
    if (outcome.kind === "lost")
      throw outcome.started ? crashed() : new Error("The parser process ended before it took the document.");
    return outcome;
  };
}

/** A file that its owner has placed, and keeps until it is parsed. */
async function atHand(input: ParseInput): Promise<LateInput> {
  return {
    size: await inputSizeBytes(input).catch(() => 0),
    fetch: async () => ({ input, [Symbol.asyncDispose]: async () => undefined }),
  };
}

function crashed(): DomainError {
  return new DomainError("worker_crashed", "The parser stopped twice while processing only this document.");
}
