/** Decides which texts are requested next: fair between organizations and users; small work first. */
import { type Caller, type EmbeddingPriority, type EmbeddingRequest, type Part, userKey } from "./caller.ts";
import { type FairOrder, createFairOrder } from "../../process/concurrency/fair-order.ts";

/** If both urgent work and work in bulk wait, every eighth request is one of bulk. */
const BULK_EVERY = 8;
/**
 * Every fourth request with texts of a user begins with the user's oldest work: endless small work never
 * stops large work, and each of `n` documents is served at least once in 4 n of the user's requests.
 */
const OLDEST_EVERY = 4;

export interface EmbeddingQueue {
  add(caller: Caller): void;
  remove(caller: Caller): void;
  waiting(organizationId: string): number;
  /** The next request, of an organization for which there is a place; undefined if there is none. */
  take(maxTexts: number, hasPlaceFor: (organizationId: string) => boolean): EmbeddingRequest | undefined;
  /** Forgets who was served; called when nothing waits and nothing is under way. */
  forget(): void;
}

const unsent = ({ texts, taken }: Caller): number => texts.length - taken;

/** Up to `room` texts of the callers, in the order given; they count as taken. */
function fill(callers: readonly Caller[], room: number): Part[] {
  const parts: Part[] = [];
  let left = room;
  for (const caller of callers) {
    if (left === 0) break;
    const to = caller.taken + Math.min(unsent(caller), left);
    parts.push({ caller, from: caller.taken, to });
    left -= to - caller.taken;
    caller.left -= to - caller.taken;
    caller.taken = to;
  }
  return parts;
}

/** Gives the users who wait equal shares of a request; what one does not need goes to the others. */
function share(callers: readonly Caller[], maxTexts: number, users: FairOrder): Part[] {
  const byUser = Map.groupBy(callers, ({ work }) => userKey(work));
  const total = (key: string): number => byUser.get(key)!.reduce((sum, caller) => sum + unsent(caller), 0);
  const keys = users
    .inOrder(byUser.keys())
    .slice(0, maxTexts)
    .toSorted((one, other) => total(one) - total(other));
  const parts: Part[] = [];
  let room = maxTexts;
  for (const [position, key] of keys.entries()) {
    const theirs = byUser.get(key)!;
    const isOldestFirst = users.serve(key) % OLDEST_EVERY === 0;
    const inOrder = isOldestFirst ? theirs : theirs.toSorted((one, other) => one.left - other.left);
    const filled = fill(inOrder, Math.floor(room / (keys.length - position)));
    room -= filled.reduce((sum, { from, to }) => sum + to - from, 0);
    parts.push(...filled);
  }
  return parts;
}

export function createEmbeddingQueue(): EmbeddingQueue {
  const queues: Record<EmbeddingPriority, Set<Caller>> = { now: new Set(), batch: new Set() };
  const organizations = createFairOrder();
  const users = createFairOrder();
  let contested = 0;

  const pickQueue = (mayStart: (caller: Caller) => boolean): Caller[] => {
    const now = [...queues.now].filter(mayStart);
    const batch = [...queues.batch].filter(mayStart);
    if (now.length === 0 || batch.length === 0) return now.length > 0 ? now : batch;
    contested++;
    return contested % BULK_EVERY === 0 ? batch : now;
  };
  /** Moves a caller that was served to the end of its queue, or out of it if none of its texts are left. */
  const requeue = ({ caller }: Part): void => {
    const queue = queues[caller.work.priority];
    queue.delete(caller);
    if (unsent(caller) > 0) queue.add(caller);
  };
  return {
    add(caller) {
      queues[caller.work.priority].add(caller);
    },
    remove(caller) {
      queues[caller.work.priority].delete(caller);
    },
    waiting(organizationId) {
      let texts = 0;
      for (const queue of Object.values(queues))
        for (const caller of queue)
          if (caller.work.organizationId === organizationId) texts += unsent(caller);
      return texts;
    },
    take(maxTexts, hasPlaceFor) {
      const callers = pickQueue((caller) => hasPlaceFor(caller.work.organizationId));
      const organizationId = organizations.next(callers.map(({ work }) => work.organizationId));
      if (organizationId === undefined) return undefined;
      organizations.serve(organizationId);
      const theirs = callers.filter(({ work }) => work.organizationId === organizationId);
      const first = users.next(theirs.map(({ work }) => userKey(work)));
      const kind = theirs.find(({ work }) => userKey(work) === first)!.kind;
      const parts = share(
        theirs.filter((caller) => caller.kind === kind),
        maxTexts,
        users,
      );
      for (const part of parts) requeue(part);
      return { parts };
    },
    forget() {
      organizations.forget();
      users.forget();
    },
  };
}
