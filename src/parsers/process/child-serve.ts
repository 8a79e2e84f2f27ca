/** The code inside a parser process: answers one request at a time, and ends with its worker. */

import { DomainError } from "../../domain/errors.ts";
import type { FileType } from "../../domain/file-type.ts";
import type { TextUnit } from "../../domain/text-unit.ts";
import { unitMessages, type ChildMessage, type ChildRequest } from "./child-protocol.ts";
import type { PageReader } from "../pages/page-reader.ts";
import type { Parser } from "../parser.ts";

export interface Served {
  /** Throws for a type without a parser. */
  readonly parsers: (fileType: FileType) => Parser;
  /** Throws for a type without pages. Default: no page is shown. */
  readonly pages?: (fileType: FileType) => PageReader;
  readonly warmUp: () => Promise<void>;
}

/** Serves the process's IPC channel until it closes. */
export async function serveParsers(served: Served): Promise<void> {
  endWithParent();
  process.on("message", (request: ChildRequest) => {
    answer(served, request)
      .catch((error: unknown) => send(failure(error)))
      .catch(() => process.exit(1));
  });
  await served.warmUp();
  await send({ kind: "ready" });
}

/** A parser that never returns gets no such event: the kernel or parent-watch.ts ends the process. */
function endWithParent(): void {
  process.once("disconnect", () => process.exit(0));
  // Ctrl-C reaches the whole process group, but the worker decides when this process ends.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => undefined);
}

function send(message: ChildMessage): Promise<void> {
  return new Promise((resolve, reject) => {
    process.send?.(message, undefined, undefined, (error: Error | null) =>
      error === null ? resolve() : reject(error),
    );
  });
}

async function answer(served: Served, request: ChildRequest): Promise<void> {
  await send({ kind: "started" });
  const { input } = request;
  switch (request.task) {
    case "page_count":
      return send({
        kind: "page_count",
        pages: (await served.parsers(input.fileType).pageCount?.(input)) ?? null,
      });
    case "page_sizes":
      return send({ kind: "page_sizes", sizes: await pagesOf(served, input.fileType).sizes(input) });
    case "picture":
      return send({
        kind: "picture",
        bytes: await pagesOf(served, input.fileType).picture(input, request.picture),
      });
    case "parse":
      return sendParsed(served.parsers(input.fileType), request);
  }
}

function pagesOf({ pages }: Served, fileType: FileType): PageReader {
  if (pages === undefined) throw new DomainError("internal", "This process shows no pages.");
  return pages(fileType);
}

async function sendParsed(parser: Parser, request: ChildRequest & { readonly task: "parse" }): Promise<void> {
  const { units, ...document } = await parser.parse(request.input);
  requireFew(units, request.maxCharacters);
  for (const batch of unitMessages(units)) await send({ kind: "units", units: batch });
  return send({ kind: "parsed", document });
}

/** Here, so that nobody receives what is refused. */
function requireFew(units: readonly TextUnit[], most = Infinity): void {
  const characters = units.reduce((sum, { text }) => sum + text.length, 0);
  if (characters > most) throw new DomainError("too_large", `Its text has more than ${most} characters.`);
}

function failure(error: unknown): ChildMessage {
  if (error instanceof DomainError) return { kind: "failed", code: error.reason, message: error.message };
  if (error instanceof RangeError)
    return {
      kind: "failed",
      code: "out_of_memory",
      message: "Parsing the file needs too much memory.",
    };
  if (error instanceof Error && "syscall" in error)
    return { kind: "failed", code: "internal", message: "The file could not be read." };
  return { kind: "failed", code: "corrupt", message: "The parser stopped on this file." };
}
