/** Splits a request that failed, perhaps for one of its texts, into smaller ones until that is alone. */
import { type EmbeddingRequest, type Part, organizationOf, userKey } from "./caller.ts";
import { createFairOrder } from "../../process/concurrency/fair-order.ts";

const middleOf = (count: number): number => Math.ceil(count / 2);

/** Whether the request has one text and cannot be split. */
export function isSingle({ parts }: EmbeddingRequest): boolean {
  return parts.reduce((sum, { from, to }) => sum + to - from, 0) === 1;
}

/**
 * Two requests with half of the texts each. Users are separated first, then callers, then the texts of one
 * caller, so that those who share a request by chance are soon rid of the refused text.
 *
 * @param since when the whole request was sent, by `performance.now()`.
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

/** The request without callers that have ended; undefined if none is left. */
export function stillWanted({ parts, since }: EmbeddingRequest): EmbeddingRequest | undefined {
  const wanted = parts.filter(({ caller }) => !caller.settled);
  return wanted.length === 0 ? undefined : { parts: wanted, since };
}

/** Parts of refused requests that wait to be sent, in the fair order of the queue of callers. */
export function createSplitQueue() {
  const waiting = new Set<EmbeddingRequest>();
  const organizations = createFairOrder();
  const users = createFairOrder();
  const userOf = ({ parts }: EmbeddingRequest): string => userKey(parts[0]!.caller.work);
  const takeNext = (hasPlaceFor: (organizationId: string) => boolean): EmbeddingRequest | undefined => {
    const ready = [...waiting].filter((request) => hasPlaceFor(organizationOf(request)));
    const organizationId = organizations.next(ready.map(organizationOf));
    if (organizationId === undefined) return undefined;
    const theirs = ready.filter((request) => organizationOf(request) === organizationId);
    const user = users.next(theirs.map(userOf));
    const request = theirs.find((one) => userOf(one) === user)!;
    organizations.serve(organizationId);
    users.serve(userOf(request));
    waiting.delete(request);
    return request;
  };
  return {
    add(request: EmbeddingRequest): void {
      waiting.add(request);
    },
    /** The next request that is still wanted, of an organization with a place; undefined: none. */
    take(hasPlaceFor: (organizationId: string) => boolean): EmbeddingRequest | undefined {
      for (;;) {
        const request = takeNext(hasPlaceFor);
        if (request === undefined) return undefined;
        const wanted = stillWanted(request);
        if (wanted !== undefined) return wanted;
      }
    },
    forget(): void {
      organizations.forget();
      users.forget();
    },
  };
}
