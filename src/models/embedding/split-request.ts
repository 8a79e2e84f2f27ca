/** How a request that failed, perhaps for one of its texts, is made into smaller ones until that text stands alone. */
import { type EmbeddingRequest, type Part, organizationOf, userKey } from "./caller.ts";
import { createFairTurns } from "../fair-turns.ts";

const middleOf = (count: number): number => Math.ceil(count / 2);

/** One text alone is no more than itself. */
export function isSingle({ parts }: EmbeddingRequest): boolean {
  return parts.reduce((sum, { from, to }) => sum + to - from, 0) === 1;
}

/**
 * Two requests with half of it each, `since` the given time. Users are parted first, then callers, then the texts of one caller: who
 * shares a request by chance is soon on his own.
 */
export function halve({ parts }: EmbeddingRequest, since: number): EmbeddingRequest[] {
  const ofUsers = [...Map.groupBy(parts, ({ caller }) => userKey(caller.work)).values()];
  const groups =
    ofUsers.length > 1
      ? ofUsers
      : parts.length > 1
        ? parts.map((part) => [part])
        : parts.map(halvePart).at(0)!;
  const middle = middleOf(groups.length);
  return [groups.slice(0, middle), groups.slice(middle)].map((half) => ({ parts: half.flat(), since }));
}

function halvePart({ caller, from, to }: Part): Part[][] {
  const middle = from + middleOf(to - from);
  return [[{ caller, from, to: middle }], [{ caller, from: middle, to }]];
}

/** The request without the callers that want nothing any more; undefined where none is left. */
export function stillWanted({ parts, since }: EmbeddingRequest): EmbeddingRequest | undefined {
  const wanted = parts.filter(({ caller }) => !caller.settled);
  return wanted.length === 0 ? undefined : { parts: wanted, since };
}

/** What a refused request was split into, waiting for its turn: shared as the queue of callers is. */
export function createSplits() {
  const waiting = new Set<EmbeddingRequest>();
  const organizations = createFairTurns();
  const users = createFairTurns();
  const userOf = ({ parts }: EmbeddingRequest): string => userKey(parts[0]!.caller.work);
  return {
    waiting,
    take(mayFly: (organizationId: string) => boolean): EmbeddingRequest | undefined {
      const ready = [...waiting].filter((request) => mayFly(organizationOf(request)));
      const organizationId = organizations.next(ready.map(organizationOf));
      if (organizationId === undefined) return undefined;
      const theirs = ready.filter((request) => organizationOf(request) === organizationId);
      const user = users.next(theirs.map(userOf));
      const request = theirs.find((one) => userOf(one) === user)!;
      organizations.serve(organizationId);
      users.serve(userOf(request));
      waiting.delete(request);
      return request;
    },
    forget() {
      organizations.forget();
      users.forget();
    },
  };
}
