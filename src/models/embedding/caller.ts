/** What the parts of merged embedding share: one caller with its texts, and a request that is made of parts of several. */
import { AsyncLocalStorage } from "node:async_hooks";
import type { EmbeddingKind } from "./embedding-model.ts";
import { FailedBesideOthers } from "../provider/error.ts";

/** `now`: somebody waits for it (an upload, a question); `batch`: work in bulk. */
export type EmbeddingPriority = "now" | "batch";

/** On whose behalf texts are embedded. */
export interface EmbeddingWork {
  readonly priority: EmbeddingPriority;
  readonly organizationId: string;
  /** Who asked for it; null where nobody did, or nobody knows. */
  readonly userId: string | null;
  /** Texts of the whole work, where more will come than one call brings: small work goes before large. */
  readonly size?: number;
}

/** A vector, or null for a text that the provider refuses. */
export type Outcome = Float32Array | null;

export interface Caller {
  readonly work: EmbeddingWork;
  readonly texts: readonly string[];
  readonly kind: EmbeddingKind;
  readonly outcomes: Array<Outcome | undefined>;
  /** Texts of the work that have not been handed to a request yet, as far as is known. */
  left: number;
  /** Texts of this call handed to a request so far, and outcomes that came back. */
  taken: number;
  received: number;
  settled: boolean;
  /** What the provider failed with on one of the texts, while it took others. */
  broken: FailedBesideOthers | undefined;
  readonly settle: (ended: { readonly outcomes: Outcome[] } | { readonly error: unknown }) => void;
  /** Runs in the caller's asynchronous context: a request belongs to the trace of the first that shares it. */
  readonly inContext: <T>(work: () => T) => T;
}

/** Texts [from, to) of one caller within a request. */
export interface Part {
  readonly caller: Caller;
  readonly from: number;
  readonly to: number;
}

/** Texts of one organization and kind that go to the provider together. */
export interface EmbeddingRequest {
  readonly parts: readonly Part[];
  /** When the request was sent that this one is a part of, by `performance.now()`; undefined for one that is no part. */
  readonly since?: number | undefined;
}

export const organizationOf = ({ parts }: EmbeddingRequest): string =>
  parts[0]?.caller.work.organizationId ?? "";
export const kindOf = ({ parts }: EmbeddingRequest): EmbeddingKind => parts[0]?.caller.kind ?? "passage";
export const textsOf = ({ parts }: EmbeddingRequest): string[] =>
  parts.flatMap(({ caller, from, to }) => caller.texts.slice(from, to));
/** Names a user of an organization among all. */
export const userKey = ({ organizationId, userId }: EmbeddingWork): string =>
  `${organizationId}/${userId ?? ""}`;

/** Thrown once all texts of a call have been asked for: those with an outcome need not be asked for again. */
export class PartlyEmbedded extends FailedBesideOthers {
  /** In the order of the texts; undefined where the provider broke. */
  readonly outcomes: ReadonlyArray<Outcome | undefined>;

  constructor(failure: FailedBesideOthers, outcomes: ReadonlyArray<Outcome | undefined>) {
    super(failure.code, failure.message, { cause: failure.cause });
    this.outcomes = outcomes;
  }
}

/** Notes what became of one text; a caller that has all outcomes is settled. */
export function receive(caller: Caller, position: number, outcome: Outcome | FailedBesideOthers): void {
  if (caller.settled) return;
  if (outcome instanceof FailedBesideOthers) caller.broken = outcome;
  else caller.outcomes[position] = outcome;
  caller.received++;
  if (caller.received < caller.texts.length) return;
  if (caller.broken === undefined) caller.settle({ outcomes: caller.outcomes.map((one) => one ?? null) });
  else caller.settle({ error: new PartlyEmbedded(caller.broken, caller.outcomes) });
}

type CallOf = Pick<Caller, "work" | "texts" | "kind" | "left">;

/** A caller of one call, and what becomes of it; `onSettled` is told once. An abort settles it with the reason of `signal`. */
export function createCaller(
  call: CallOf,
  onSettled: (caller: Caller) => void,
  signal?: AbortSignal,
): { readonly caller: Caller; readonly outcome: Promise<Outcome[]> } {
  const { promise, resolve, reject } = Promise.withResolvers<Outcome[]>();
  const leave = (): void => caller.settle({ error: signal?.reason });
  const caller: Caller = {
    ...call,
    outcomes: Array.from({ length: call.texts.length }),
    taken: 0,
    received: 0,
    settled: false,
    broken: undefined,
    inContext: AsyncLocalStorage.snapshot(),
    settle(ended) {
      if (caller.settled) return;
      caller.settled = true;
      signal?.removeEventListener("abort", leave);
      if ("outcomes" in ended) resolve(ended.outcomes);
      else reject(ended.error);
      onSettled(caller);
    },
  };
  signal?.addEventListener("abort", leave, { once: true });
  return { caller, outcome: promise };
}
