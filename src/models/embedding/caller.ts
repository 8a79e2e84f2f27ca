/** One call of a merging model with its texts, and requests that are made of the texts of several calls. */
import { AsyncLocalStorage } from "node:async_hooks";
import type { EmbeddingKind } from "./types.ts";
import { FailedWhileOthersSucceed } from "../provider/error.ts";

/** `now` if somebody waits for it (an upload, a question); `batch` for work in bulk. */
export type EmbeddingPriority = "now" | "batch";

/** On whose behalf texts are embedded. */
export interface EmbeddingWork {
  readonly priority: EmbeddingPriority;
  readonly organizationId: string;
  /** Who asked for it; null if no user did or it is not known. */
  readonly userId: string | null;
  /** Texts of the whole work, if it takes several calls; small work goes before large. */
  readonly size?: number;
}

/** A vector, or null for a text that the provider refuses. */
export type Outcome = Float32Array | null;

export interface Caller {
  readonly work: EmbeddingWork;
  readonly texts: readonly string[];
  readonly kind: EmbeddingKind;
  readonly outcomes: Array<Outcome | undefined>;
  /** Texts of the whole work that are in no request yet, as far as is known. */
  left: number;
  /** Texts of this call that are in a request or were in one. */
  taken: number;
  /** Texts of this call that have an outcome or broke the provider. */
  received: number;
  settled: boolean;
  /** Set if the provider broke on one of the texts while it took others. */
  broken: FailedWhileOthersSucceed | undefined;
  readonly settle: (ended: { readonly outcomes: Outcome[] } | { readonly error: unknown }) => void;
  /** Runs `work` in the caller's asynchronous context: a request belongs to the trace of its first caller. */
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
  /** For a part of a refused request: when that was sent, by `performance.now()`. */
  readonly since?: number | undefined;
}

export const organizationOf = ({ parts }: EmbeddingRequest): string =>
  parts[0]?.caller.work.organizationId ?? "";
export const kindOf = ({ parts }: EmbeddingRequest): EmbeddingKind => parts[0]?.caller.kind ?? "passage";
export const textsOf = ({ parts }: EmbeddingRequest): string[] =>
  parts.flatMap(({ caller, from, to }) => caller.texts.slice(from, to));
/** Names a user among those of all organizations. */
export const userKey = ({ organizationId, userId }: EmbeddingWork): string =>
  `${organizationId}/${userId ?? ""}`;

/** Thrown after all texts of a call were asked for and some broke the provider; has the others' outcomes. */
export class PartlyEmbedded extends FailedWhileOthersSucceed {
  /** In the order of the texts; undefined for a text on which the provider broke. */
  readonly outcomes: ReadonlyArray<Outcome | undefined>;

  constructor(failure: FailedWhileOthersSucceed, outcomes: ReadonlyArray<Outcome | undefined>) {
    super(failure.code, failure.message, { cause: failure.cause });
    this.outcomes = outcomes;
  }
}

/** Notes the outcome of one text, and settles the caller after its last one. */
export function receive(caller: Caller, position: number, outcome: Outcome | FailedWhileOthersSucceed): void {
  if (caller.settled) return;
  if (outcome instanceof FailedWhileOthersSucceed) caller.broken = outcome;
  else caller.outcomes[position] = outcome;
  caller.received++;
  if (caller.received < caller.texts.length) return;
  if (caller.broken === undefined) caller.settle({ outcomes: caller.outcomes.map((one) => one ?? null) });
  else caller.settle({ error: new PartlyEmbedded(caller.broken, caller.outcomes) });
}

/** A caller and its outcomes. An abort settles it with the `signal`'s reason; `onSettled` comes once. */
export function createCaller(
  call: Pick<Caller, "work" | "texts" | "kind" | "left">,
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
