/** Which texts go into the next request: embedding time is shared by organization, inside it by user, and small work passes large work. */
import { type Caller, type EmbeddingPriority, type EmbeddingRequest, type Part, userKey } from "./caller.ts";
import { createFairTurns } from "../fair-turns.ts";

/** While work that somebody waits for and work in bulk both wait, every eighth request is one of bulk. */
const BULK_TURN = 8;
/**
 * Every fourth request that a user has a share in begins with what of the user's has waited longest, so that large work gets on under endless
 * small work: of `n` documents of one user each is served once in 4 n requests at most, with up to a whole share.
 */
const OLDEST_TURN = 4;

export interface EmbeddingQueue {
  add(caller: Caller): void;
  remove(caller: Caller): void;
  /** Texts that wait. */
  waiting(organizationId: string): number;
  isEmpty(): boolean;
  /** The next request, of an organization that `mayFly`; undefined where there is none. */
  take(maxTexts: number, mayFly: (organizationId: string) => boolean): EmbeddingRequest | undefined;
  /** Forgets who was served: for when nothing waits and nothing is under way. */
  forget(): void;
}

const unsent = ({ texts, taken }: Caller): number => texts.length - taken;

/** Up to `room` texts of callers, in the order given. */
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

export function createEmbeddingQueue(): EmbeddingQueue {
  const queues: Record<EmbeddingPriority, Set<Caller>> = { now: new Set(), batch: new Set() };
  const organizations = createFairTurns();
  const users = createFairTurns();
  let contested = 0;

  const pickQueue = (mayFly: (caller: Caller) => boolean): Caller[] => {
    const [now, batch] = [[...queues.now].filter(mayFly), [...queues.batch].filter(mayFly)];
    if (now.length === 0 || batch.length === 0) return now.length > 0 ? now : batch;
    contested++;
    return contested % BULK_TURN === 0 ? batch : now;
  };
  /** Equal shares for the users who wait; what one leaves goes to the others. */
  const share = (callers: readonly Caller[], maxTexts: number): Part[] => {
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
      const isOldestTurn = users.serve(key) % OLDEST_TURN === 0;
      const inOrder = isOldestTurn ? theirs : theirs.toSorted((one, other) => one.left - other.left);
      const filled = fill(inOrder, Math.floor(room / (keys.length - position)));
      room -= filled.reduce((sum, { from, to }) => sum + to - from, 0);
      parts.push(...filled);
    }
    return parts;
  };
  /** Callers that were served go behind the others, where some of them is left. */
  const requeue = ({ caller }: Part): void => {
    const queue = queues[caller.work.priority];
    queue.delete(caller);
    if (unsent(caller) > 0) queue.add(caller);
  };
  return {
    add: (caller) => void queues[caller.work.priority].add(caller),
    remove: (caller) => void queues[caller.work.priority].delete(caller),
    waiting(organizationId) {
      let texts = 0;
      for (const queue of Object.values(queues))
        for (const caller of queue)
          if (caller.work.organizationId === organizationId) texts += unsent(caller);
      return texts;
    },
    isEmpty: () => queues.now.size + queues.batch.size === 0,
    take(maxTexts, mayFly) {
      const callers = pickQueue((caller) => mayFly(caller.work.organizationId));
      const organizationId = organizations.next(callers.map(({ work }) => work.organizationId));
      if (organizationId === undefined) return undefined;
      organizations.serve(organizationId);
      const theirs = callers.filter(({ work }) => work.organizationId === organizationId);
      const first = users.next(theirs.map(({ work }) => userKey(work)));
      const kind = theirs.find(({ work }) => userKey(work) === first)!.kind;
      const parts = share(
        theirs.filter((caller) => caller.kind === kind),
        maxTexts,
      );
      parts.forEach(requeue);
      return { parts };
    },
    forget() {
      organizations.forget();
      users.forget();
    },
  };
}
