/** The only place where the embedding work of several callers becomes requests: merged, shared fairly, and split where a text is refused. */
import { type Flight, createAsker } from "./ask.ts";
import {
  type Caller,
  type EmbeddingRequest,
  type EmbeddingWork,
  createCaller,
  organizationOf,
} from "./caller.ts";
import type { EmbeddingModel } from "./embedding-model.ts";
import { createEmbeddingQueue } from "./queue.ts";
import { createSplits, stillWanted } from "./split-request.ts";

interface MergeOptions {
  /** How long a request that is not full waits for company while others of its organization are under way; without any it is sent at once. */
  readonly maxWaitMs?: number;
  /** Texts of one request; by default what the model prefers, else 256. */
  readonly maxBatch?: number;
  /** Requests of one organization under way at once. */
  readonly maxInFlight?: number;
  /** Of all organizations; by default four times as many, or as many where the model prefers small requests: it has no more hands. */
  readonly maxInFlightOfAll?: number;
}

/** An embedding model that is only asked on somebody's behalf. */
export interface MergingEmbeddingModel extends Omit<EmbeddingModel, "embed"> {
  /**
   * The model as it works for an organization and a user. Its `embed` answers null for a text that the model refuses while it takes others:
   * asked alone it was rejected (400, 413, 422) or brought nothing that can be used. Where it takes no text at all that is an outage.
   */
  forWork(work: EmbeddingWork): EmbeddingModel;
}

/** Requests of one kind under way, bounded for each organization and for all. */
function createLane(maxOfOne: number, maxOfAll: number) {
  const flights = new Set<Flight>();
  const countOf = (organizationId: string): number =>
    [...flights].filter(({ request }) => organizationOf(request) === organizationId).length;
  return {
    flights,
    countOf,
    isFull: () => flights.size >= maxOfAll,
    mayFly: (organizationId: string): boolean => countOf(organizationId) < maxOfOne,
  };
}

/**
 * Natural batching: while requests are under way the next gathers, of one organization each (`embedding-queue.ts` says of which). An abort
 * of one caller ends that caller only. An outage reaches all callers of its request. What is refused, perhaps for one text, is split;
 * the halves have as many places of their own as other requests have, so that neither waits for the other.
 */
export function mergeEmbeddings(model: EmbeddingModel, options: MergeOptions = {}): MergingEmbeddingModel {
  const { maxWaitMs = 5, maxBatch = model.preferredBatch ?? 256, maxInFlight = 2 } = options;
  const { maxInFlightOfAll = model.preferredBatch === undefined ? 4 * maxInFlight : maxInFlight } = options;
  const queue = createEmbeddingQueue();
  const splits = createSplits();
  const whole = createLane(maxInFlight, maxInFlightOfAll);
  const split = createLane(maxInFlight, maxInFlightOfAll);
  const ask = createAsker(model);
  let immediate: NodeJS.Immediate | undefined;
  let timer: NodeJS.Timeout | undefined;

  const fly = (lane: ReturnType<typeof createLane>, request: EmbeddingRequest): void => {
    const flight: Flight = { request, abort: new AbortController() };
    lane.flights.add(flight);
    void request.parts[0]!.caller.inContext(() => ask(flight))
      .then((smaller) => smaller.forEach((one) => splits.waiting.add(one)))
      .finally(() => {
        lane.flights.delete(flight);
        launch();
      });
  };
  const takeSplit = (): EmbeddingRequest | undefined => {
    for (;;) {
      const request = splits.take(split.mayFly);
      const wanted = request && stillWanted(request);
      if (request === undefined || wanted !== undefined) return wanted;
    }
  };
  const launch = (): void => {
    clearImmediate(immediate);
    clearTimeout(timer);
    immediate = timer = undefined;
    for (let request; !whole.isFull() && (request = queue.take(maxBatch, whole.mayFly));) fly(whole, request);
    for (let request; !split.isFull() && (request = takeSplit());) fly(split, request);
    if (whole.flights.size + split.flights.size > 0) return;
    queue.forget();
    splits.forget();
  };
  const schedule = (organizationId: string): void => {
    if (whole.isFull() || !whole.mayFly(organizationId)) return;
    if (queue.waiting(organizationId) >= maxBatch) launch();
    // The callers of one turn of the event loop come together even where nothing is under way.
    else if (whole.countOf(organizationId) === 0) immediate ??= setImmediate(launch);
    else timer ??= setTimeout(launch, maxWaitMs);
  };
  const enter = (caller: Caller): void => {
    queue.add(caller);
    schedule(caller.work.organizationId);
  };
  const leave = (caller: Caller): void => {
    queue.remove(caller);
    for (const { request, abort } of [...whole.flights, ...split.flights])
      if (stillWanted(request) === undefined) abort.abort();
  };
  const forWork = (work: EmbeddingWork): EmbeddingModel => {
    let left = work.size ?? 0;
    return {
      ...model,
      async embed(texts, kind, signal) {
        if (texts.length === 0) return [];
        signal?.throwIfAborted();
        const { caller, outcome } = createCaller(
          { work, texts, kind, left: Math.max(left, texts.length) },
          leave,
          signal,
        );
        left -= texts.length;
        enter(caller);
        return outcome;
      },
    };
  };
  return { ...model, forWork };
}
