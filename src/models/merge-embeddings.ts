/** The only place where the embedding work of several callers becomes one request. */
import { AsyncLocalStorage } from "node:async_hooks";
import { errorClass, DomainError } from "../domain/errors.ts";
import type { EmbeddingKind, EmbeddingModel } from "./embedding-model.ts";

/** `now`: somebody waits for it (an upload, a question); `batch`: work in bulk, which gets what is left. */
type EmbeddingPriority = "now" | "batch";

interface MergeOptions {
  /** How long a request that is not full waits for company while others are under way; an idle model is asked at once. */
  readonly maxWaitMs?: number;
  /** Texts of one request; by default what the model prefers, else 256. */
  readonly maxBatch?: number;
  /** Requests under way at once. */
  readonly maxInFlight?: number;
}

export interface MergingEmbeddingModel extends EmbeddingModel {
  /** The same model with the same queue; its own `embed` is that of `now`. */
  forPriority(priority: EmbeddingPriority): EmbeddingModel;
}

interface Caller {
  readonly texts: readonly string[];
  readonly kind: EmbeddingKind;
  readonly vectors: Array<Float32Array | undefined>;
  /** Texts handed to a request so far, and vectors that came back. */
  taken: number;
  received: number;
  settled: boolean;
  readonly settle: (outcome: { vectors: Float32Array[] } | { error: unknown }) => void;
  /** Runs in the caller's asynchronous context: a request belongs to the trace of the first that shares it. */
  readonly inContext: <T>(work: () => T) => T;
}

/** Texts [from, to) of one caller within a request. */
interface Part {
  readonly caller: Caller;
  readonly from: number;
  readonly to: number;
}

/** Takes up to `maxTexts` texts of one kind, in equal shares, so that a large document does not hold up a small one. */
function gather(queue: Set<Caller>, maxTexts: number): Part[] {
  const [first] = queue;
  if (first === undefined) return [];
  const left = ({ texts, taken }: Caller): number => texts.length - taken;
  // Those with the fewest texts first: what they leave of their shares goes to the others.
  const alike = [...queue]
    .filter(({ kind }) => kind === first.kind)
    .slice(0, maxTexts)
    .toSorted((one, other) => left(one) - left(other));
  const parts: Part[] = [];
  let room = maxTexts;
  for (const [position, caller] of alike.entries()) {
    const from = caller.taken;
    const to = from + Math.min(left(caller), Math.floor(room / (alike.length - position)));
    parts.push({ caller, from, to });
    room -= to - from;
    caller.taken = to;
    queue.delete(caller);
    // Behind the others, where some of it is left.
    if (to < caller.texts.length) queue.add(caller);
  }
  return parts;
}

function receive(part: Part, vectors: readonly Float32Array[]): void {
  const { caller, from } = part;
  for (const [index, vector] of vectors.entries()) caller.vectors[from + index] = vector;
  caller.received += vectors.length;
  if (caller.received === caller.texts.length) caller.settle({ vectors: caller.vectors.filter((vector) => vector !== undefined) });
}

/** A request under way, ended early once none of its callers wants it any more. */
interface Flight {
  readonly parts: readonly Part[];
  readonly abort: AbortController;
}

async function ask(model: EmbeddingModel, parts: readonly Part[], signal: AbortSignal): Promise<void> {
  const texts = parts.flatMap(({ caller, from, to }) => caller.texts.slice(from, to));
  const vectors = await model.embed(texts, parts[0]?.caller.kind ?? "passage", signal);
  let at = 0;
  for (const part of parts) receive(part, vectors.slice(at, (at += part.to - part.from)));
}

/** Sends a request; where the provider rejects it, each caller alone, so that one caller's text fails that caller only. */
async function fly(model: EmbeddingModel, { parts, abort }: Flight): Promise<void> {
  try {
    await ask(model, parts, abort.signal);
  } catch (error) {
    const rejected = error instanceof DomainError && error.code === "rejected_by_provider" && errorClass(error) === "hopeless";
    if (!rejected || parts.length === 1) {
      for (const { caller } of parts) caller.settle({ error });
      return;
    }
    for (const part of parts) {
      if (!part.caller.settled) await fly(model, { parts: [part], abort });
    }
  }
}

/**
 * Natural batching: while requests are under way the next gathers, those of `now` before those of `batch`. An abort of one caller ends
 * that caller only. An outage reaches all callers of its request.
 */
export function mergeEmbeddings(model: EmbeddingModel, options: MergeOptions = {}): MergingEmbeddingModel {
  const { maxWaitMs = 5, maxBatch = model.preferredBatch ?? 256, maxInFlight = 2 } = options;
  const queues: Record<EmbeddingPriority, Set<Caller>> = { now: new Set(), batch: new Set() };
  const flights = new Set<Flight>();
  let immediate: NodeJS.Immediate | undefined;
  let timer: NodeJS.Timeout | undefined;

  const launch = (): void => {
    clearImmediate(immediate);
    clearTimeout(timer);
    immediate = timer = undefined;
    while (flights.size < maxInFlight) {
      const parts = gather(queues.now.size > 0 ? queues.now : queues.batch, maxBatch);
      if (parts.length === 0) return;
      const flight: Flight = { parts, abort: new AbortController() };
      flights.add(flight);
      void parts[0]!.caller
        .inContext(() => fly(model, flight))
        .finally(() => {
          flights.delete(flight);
          launch();
        });
    }
  };
  const schedule = (): void => {
    if (flights.size >= maxInFlight) return;
    const waiting = [...queues.now, ...queues.batch].reduce((total, { texts, taken }) => total + texts.length - taken, 0);
    if (waiting >= maxBatch) launch();
    // The callers of one turn of the event loop come together even where nothing is under way.
    else if (flights.size === 0) immediate ??= setImmediate(launch);
    else timer ??= setTimeout(launch, maxWaitMs);
  };
  const embed = (priority: EmbeddingPriority) => (texts: readonly string[], kind: EmbeddingKind, signal?: AbortSignal) => {
    if (texts.length === 0) return Promise.resolve([]);
    return new Promise<Float32Array[]>((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const leave = (): void => caller.settle({ error: signal?.reason });
      const settle: Caller["settle"] = (outcome) => {
        if (caller.settled) return;
        caller.settled = true;
        queues[priority].delete(caller);
        signal?.removeEventListener("abort", leave);
        if ("vectors" in outcome) resolve(outcome.vectors);
        else reject(outcome.error);
        for (const { parts, abort } of flights) if (parts.every((part) => part.caller.settled)) abort.abort();
      };
      const caller: Caller = { texts, kind, vectors: Array.from({ length: texts.length }), taken: 0, received: 0, settled: false, settle, inContext: AsyncLocalStorage.snapshot() };
      signal?.addEventListener("abort", leave, { once: true });
      queues[priority].add(caller);
      schedule();
    });
  };
  const forPriority = (priority: EmbeddingPriority): EmbeddingModel => ({ ...model, embed: embed(priority) });
  return { ...forPriority("now"), forPriority };
}
