/** Makes requests of several callers' work: merged, shared fairly, and split if a text is refused. */
import { type SentRequest, createAsker } from "./ask.ts";
import {
  type Caller,
  type EmbeddingRequest,
  type EmbeddingWork,
  createCaller,
  organizationOf,
} from "./caller.ts";
import { createEmbeddingQueue } from "./queue.ts";
import { createSplitQueue, stillWanted } from "./split-request.ts";
import type { EmbeddingModel } from "./types.ts";

interface MergeOptions {
  /** Milliseconds a part-full request waits for more texts while others are under way; 5 by default. */
  readonly maxWaitMs?: number;
  /** Texts of one request; by default what the model prefers, else 256. */
  readonly maxBatch?: number;
  /** Requests of one organization under way at once; 2 by default. */
  readonly maxInFlight?: number;
  /**
   * Requests of all organizations under way at once. Four times `maxInFlight` by default, or as many as
   * `maxInFlight` if the model prefers small requests, since that is one that computes in this process.
   */
  readonly maxInFlightOfAll?: number;
}

/** An embedding model that is asked on somebody's behalf. */
export interface MergingEmbeddingModel extends Omit<EmbeddingModel, "embed"> {
  /**
   * The model as it works for an organization and a user. Its `embed` answers null for a text that the model
   * refuses while it takes others: asked by itself the text was rejected (400, 413, 422) or brought nothing
   * that can be used. If the model takes no text at all, that is an outage.
   */
  forWork(work: EmbeddingWork): EmbeddingModel;
}

/**
 * A model that sends the texts of several callers in one request. While requests are under way the next ones
 * gather, each of one organization (`queue.ts` says which). An abort ends only that caller's call; an
 * outage reaches all callers of its request. A request that is refused, perhaps for one text, is split.
 *
 * @example `test/models/embedding/merge.test.ts`
 * @see docs/decisions/0019-refused-texts-and-shared-embedding-time.md
 */
export function mergeEmbeddings(model: EmbeddingModel, options: MergeOptions = {}): MergingEmbeddingModel {
  const scheduler = createScheduler(model, options);
  const forWork = (work: EmbeddingWork): EmbeddingModel => {
    let left = work.size ?? 0;
    return {
      ...model,
      async embed(texts, kind, signal) {
        if (texts.length === 0) return [];
        signal?.throwIfAborted();
        const { caller, outcome } = createCaller(
          { work, texts, kind, left: Math.max(left, texts.length) },
          (ended) => scheduler.leave(ended),
          signal,
        );
        left -= texts.length;
        scheduler.enter(caller);
        return outcome;
      },
    };
  };
  return { ...model, forWork };
}

/** Requests of one kind under way, bounded for each organization and for all. */
function createPlaces(maxOfOne: number, maxOfAll: number) {
  const sent = new Set<SentRequest>();
  const countOf = (organizationId: string): number =>
    [...sent].filter(({ request }) => organizationOf(request) === organizationId).length;
  return {
    sent,
    countOf,
    isFull: () => sent.size >= maxOfAll,
    hasPlaceFor: (organizationId: string): boolean => countOf(organizationId) < maxOfOne,
  };
}

type Places = ReturnType<typeof createPlaces>;

/** Sends what waits as soon as there is a place for it. */
function createScheduler(model: EmbeddingModel, options: MergeOptions) {
  const { maxWaitMs = 5, maxBatch = model.preferredBatch ?? 256, maxInFlight = 2 } = options;
  const { maxInFlightOfAll = model.preferredBatch === undefined ? 4 * maxInFlight : maxInFlight } = options;
  const queue = createEmbeddingQueue();
  const splits = createSplitQueue();
  const ask = createAsker(model);
  // Parts of refused requests have as many places of their own: neither kind waits for the other.
  const whole = createPlaces(maxInFlight, maxInFlightOfAll);
  const split = createPlaces(maxInFlight, maxInFlightOfAll);
  let immediate: NodeJS.Immediate | undefined;
  let timer: NodeJS.Timeout | undefined;

  const send = async (places: Places, request: EmbeddingRequest): Promise<void> => {
    const sent: SentRequest = { request, abort: new AbortController() };
    places.sent.add(sent);
    const smaller = await request.parts[0]!.caller.inContext(() => ask(sent));
    for (const one of smaller) splits.add(one);
    places.sent.delete(sent);
    launch();
  };
  const fill = (places: Places, take: () => EmbeddingRequest | undefined): void => {
    while (!places.isFull()) {
      const request = take();
      if (request === undefined) return;
      void send(places, request);
    }
  };
  const launch = (): void => {
    clearImmediate(immediate);
    clearTimeout(timer);
    immediate = undefined;
    timer = undefined;
    fill(whole, () => queue.take(maxBatch, whole.hasPlaceFor));
    fill(split, () => splits.take(split.hasPlaceFor));
    if (whole.sent.size + split.sent.size > 0) return;
    queue.forget();
    splits.forget();
  };
  const schedule = (organizationId: string): void => {
    if (whole.isFull() || !whole.hasPlaceFor(organizationId)) return;
    if (queue.waiting(organizationId) >= maxBatch) launch();
    // The callers of one pass of the event loop share a request even if nothing is under way.
    else if (whole.countOf(organizationId) === 0) immediate ??= setImmediate(launch);
    else timer ??= setTimeout(launch, maxWaitMs);
  };
  return {
    enter(caller: Caller): void {
      queue.add(caller);
      schedule(caller.work.organizationId);
    },
    /** Ends a request early if none of its callers wants it any more. */
    leave(caller: Caller): void {
      queue.remove(caller);
      for (const { request, abort } of [...whole.sent, ...split.sent])
        if (stillWanted(request) === undefined) abort.abort();
    },
  };
}
