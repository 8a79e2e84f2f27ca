/** Decides which waiting document gets a free parser process. */

import { createFairQueue, type Owner } from "../../process/concurrency/fair-queue.ts";
import { LARGE_ABOVE_BYTES } from "../../domain/work/processing.ts";
import type { ChildOutcome } from "./child-protocol.ts";
import type { ParserChild } from "./parser-child.ts";

export interface ChildJob {
  readonly owner: Owner;
  /** Bytes of the document. */
  readonly size: number;
  readonly signal?: AbortSignal | undefined;
  readonly work: (child: ParserChild) => Promise<ChildOutcome>;
}

export interface ChildCounts {
  /** Processes that are kept warm from the first document on. */
  readonly size: number;
  /** Processes beyond these, for small documents; each ends after it has been idle for a while. */
  readonly spares: number;
}

interface Waiter extends Pick<ChildJob, "owner" | "size"> {
  readonly resolve: (child: ParserChild) => void;
  readonly reject: (reason: unknown) => void;
}

/** The use of one busy process. */
interface Use {
  readonly owner: Owner;
  readonly isSpare: boolean;
}

/**
 * Whether the document may have the next process. Any document may have any of the first `size` processes.
 * Beyond them a small document may have a spare one, so that it does not wait for a slow one:
 * - the last one if its organization uses no process,
 * - the last but one if its user uses no process,
 * - any other one if its user has no spare one.
 */
function mayHave(
  { owner, size }: Pick<Waiter, "owner" | "size">,
  uses: readonly Use[],
  counts: ChildCounts,
): boolean {
  const left = counts.size + counts.spares - uses.length;
  if (left > counts.spares) return true;
  if (left === 0 || size > LARGE_ABOVE_BYTES) return false;
  const ofOrganization = uses.filter((use) => use.owner.organizationId === owner.organizationId);
  const ofUser = ofOrganization.filter((use) => use.owner.userId === owner.userId);
  if (left === 1) return ofOrganization.length === 0;
  return left === 2 ? ofUser.length === 0 : !ofUser.some((use) => use.isSpare);
}

export interface ChildQueue {
  readonly busy: number;
  /** Resolves with the process that the job got. Rejects with its signal's reason if aborted before. */
  wait(job: ChildJob): Promise<ParserChild>;
  /** Gives a free process to the document that is next. @returns false if none may have it. */
  give(child: ParserChild): boolean;
  /** Whether a document waits that may have another process. */
  isWanted(): boolean;
  /** The process is not busy any more. */
  release(child: ParserChild): void;
  /** Counts the time that a document took against its owner. */
  charge(owner: Owner, milliseconds: number): void;
  /** Rejects all that wait. */
  refuse(reason: unknown): void;
}

/** Owners share processes fairly ({@link createFairQueue}) by the milliseconds that their documents took. */
export function createChildQueue(counts: ChildCounts): ChildQueue {
  const uses = new Map<ParserChild, Use>();
  const waiting = createFairQueue<Waiter>();
  const may = (waiter: Waiter): boolean => mayHave(waiter, [...uses.values()], counts);
  return {
    get busy() {
      return uses.size;
    },
    wait({ owner, size, signal }) {
      const { promise, resolve, reject } = Promise.withResolvers<ParserChild>();
      const waiter: Waiter = { owner, size, resolve, reject };
      const abort = (): void => {
        if (waiting.remove(waiter)) reject(signal?.reason);
      };
      waiting.add(waiter);
      signal?.addEventListener("abort", abort, { once: true });
      return promise.finally(() => signal?.removeEventListener("abort", abort));
    },
    give(child) {
      const next = waiting.take(may);
      if (next === undefined) return false;
      uses.set(child, { owner: next.owner, isSpare: uses.size >= counts.size });
      next.resolve(child);
      return true;
    },
    isWanted: () => waiting.some(may),
    release(child) {
      uses.delete(child);
    },
    charge: (owner, milliseconds) => waiting.charge(owner, milliseconds),
    refuse: (reason) => waiting.drain().forEach((waiter) => waiter.reject(reason)),
  };
}
