/**
 * The code inside a parser process: answers one request at a time, and ends with the worker that started it.
 */

import { DomainError } from "../../domain/errors.ts";
import type { FileType } from "../../domain/file-type.ts";
import { unitMessages, type ChildMessage, type ChildRequest } from "./child-protocol.ts";
import type { Parser } from "../parser.ts";

/**
 * Serves the process's IPC channel until it closes.
 *
 * @param parsers Throws for a type without a parser.
 */
export async function serveParsers(
  parsers: (fileType: FileType) => Parser,
  warmUp: () => Promise<void>,
): Promise<void> {
  endWithParent();
  process.on("message", (request: ChildRequest) => {
    answer(parsers, request)
      .catch((error: unknown) => send(failure(error)))
      .catch(() => process.exit(1));
  });
  await warmUp();
  await send({ kind: "ready" });
}

/**
 * A parser that never returns does not get this event: then the kernel or parent-watch.ts ends the process.
 */
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

async function answer(parsers: (fileType: FileType) => Parser, request: ChildRequest): Promise<void> {
  await send({ kind: "started" });
  const parser = parsers(request.input.fileType);
  if (request.task === "page_count")
    return send({ kind: "page_count", pages: (await parser.pageCount?.(request.input)) ?? null });
  const { units, ...document } = await parser.parse(request.input);
  for (const batch of unitMessages(units)) await send({ kind: "units", units: batch });
  return send({ kind: "parsed", document });
}

function failure(error: unknown): ChildMessage {
  if (error instanceof DomainError) return { kind: "failed", code: error.code, message: error.message };
  if (error instanceof RangeError)
    return {
      kind: "failed",
      code: "out_of_memory",
      message: "The file needs more memory than a parser may take.",
    };
  if (error instanceof Error && "syscall" in error)
    return { kind: "failed", code: "internal", message: "The file could not be read." };
  return { kind: "failed", code: "corrupt", message: "The parser stopped on this file." };
}
