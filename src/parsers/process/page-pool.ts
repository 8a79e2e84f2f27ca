/** The pool of processes that show pages, in which the API draws what a file may make slow or large. */

import { tmpdir } from "node:os";
import type { Owner } from "../../process/concurrency/fair-queue.ts";
import type { PageSizes, PictureRequest } from "../../domain/locations/page-picture.ts";
import type { ParseInput } from "../parser.ts";
import { type LateInput, runnerOf } from "./child-process.ts";
import { createParserChildren, type ChildrenOptions } from "./parser-children.ts";

export interface PagePool {
  /**
   * The sizes of the pages `input.pages`. Owners share processes fairly. A page that `signal` aborts gives
   * its process back, or ends it if it is being drawn.
   *
   * @throws what the reader of the format throws; DomainError `timeout`, `out_of_memory` or `worker_crashed`
   * as a parser does; what `fetch` throws; the signal's reason; Error if the pool is closed.
   */
  sizes(input: ParseInput | LateInput, asked: Asked): Promise<PageSizes>;
  /** The page as a picture. Throws as `sizes` does. */
  picture(input: ParseInput | LateInput, picture: PictureRequest, asked: Asked): Promise<Uint8Array>;
  /** Kills all processes and resolves when they are gone; running and later calls are refused. */
  close(): Promise<void>;
}

interface Asked {
  readonly owner: Owner;
  readonly signal?: AbortSignal | undefined;
}

const MEBIBYTE = 1024 * 1024;

export const PAGE_ENTRY = new URL("./page-main.ts", import.meta.url);

/** Most pages take some 30 ms; what takes longer than this was made to. */
const DEFAULTS: ChildrenOptions = {
  entry: PAGE_ENTRY,
  size: 1,
  spares: 1,
  timeoutMs: 20_000,
  maxRssBytes: 700 * MEBIBYTE,
  maxOldSpaceMb: 256,
  maxDocumentsPerChild: 1_000,
  recycleRssBytes: 300 * MEBIBYTE,
  recycleCpuSeconds: 300,
  // recycleCpuSeconds, and then two cores for the whole time-out of a page.
  maxCpuSeconds: 340,
  folder: tmpdir(),
};

/** More than any picture of the bounds takes: a compromised process may send anything. */
const MAX_PICTURE_BYTES = 64 * MEBIBYTE;

/**
 * Starts no process before the first page. Options that are not given have their {@link DEFAULTS}.
 *
 * @example
 * const pool = createPagePool();
 * const { total } = await pool.sizes({ fileType: "PDF", path: "plan.pdf" }, { owner });
 * await pool.close();
 */
export function createPagePool(given: Partial<ChildrenOptions> = {}): PagePool {
  const options = { ...DEFAULTS, ...given };
  const children = createParserChildren(options);
  const run = runnerOf(children, options);
  return {
    async sizes(input, asked) {
      const outcome = await run({ task: "page_sizes" }, input, asked);
      if (outcome.kind !== "page_sizes") throw new Error(`A process answered ${outcome.kind} to page_sizes.`);
      return outcome.sizes;
    },
    async picture(input, picture, asked) {
      const outcome = await run({ task: "picture", picture }, input, asked);
      if (outcome.kind !== "picture") throw new Error(`A process answered ${outcome.kind} to picture.`);
      if (outcome.bytes.byteLength > MAX_PICTURE_BYTES)
        throw new Error("A process answered more than any picture takes.");
      return outcome.bytes;
    },
    close: () => children.close(),
  };
}
