/** A queue with equal shares of time for organizations, and for their users; small pieces go first. */

export interface Owner {
  readonly organizationId: string;
  /** Null: the service itself. */
  readonly userId: string | null;
}

interface Piece {
  readonly owner: Owner;
  /** A user's smaller pieces go first. Any unit will do, if all pieces of a queue share it. */
  readonly size: number;
}

/** Each fourth turn of a user goes to the oldest piece: a stream of small ones never blocks a large one. */
export const OLDEST_EVERY = 4;

/** Above this many owners, those that wait for nothing are forgotten. */
const MAX_SHARES = 10_000;

interface Share {
  /** The time it got, in the unit of `charge`. An owner that comes back does not catch up on unused time. */
  used: number;
  turns: number;
  /** How many of its pieces wait. */
  waiting: number;
}

export interface FairQueue<T extends Piece> {
  readonly length: number;
  add(piece: T): void;
  /** @returns whether it was still in the queue. */
  remove(piece: T): boolean;
  /**
   * Takes the next piece that `may` allows: from the organization, and its user, with the least time, the
   * smallest piece (each fourth time the oldest). Takes time linear in the number of pieces.
   */
  take(may?: (piece: T) => boolean): T | undefined;
  /** True if `take` would find a piece. */
  some(may: (piece: T) => boolean): boolean;
  /** Adds what a piece has cost, once that is known. */
  charge(owner: Owner, cost: number): void;
  /** Removes and returns all pieces. */
  drain(): T[];
}

export function createFairQueue<T extends Piece>(): FairQueue<T> {
  const waiting = new Set<T>();
  const organizations = createShares();
  const users = createShares();
  const userOf = ({ organizationId, userId }: Owner): string => `${organizationId} ${userId ?? ""}`;
  const leave = (piece: T): boolean => {
    if (!waiting.delete(piece)) return false;
    organizations.leave(piece.owner.organizationId);
    users.leave(userOf(piece.owner));
    return true;
  };

  return {
    get length() {
      return waiting.size;
    },
    add(piece) {
      organizations.enter(piece.owner.organizationId);
      users.enter(userOf(piece.owner));
      waiting.add(piece);
    },
    remove: leave,
    take(may = () => true) {
      const candidates = [...waiting].filter((piece) => may(piece));
      const organization = organizations.least(candidates.map((piece) => piece.owner.organizationId));
      const ofOrganization = candidates.filter((piece) => piece.owner.organizationId === organization);
      const user = users.least(ofOrganization.map((piece) => userOf(piece.owner)));
      const ofUser = ofOrganization.filter((piece) => userOf(piece.owner) === user);
      // A set keeps the order of insertion, so the first is the oldest.
      const [oldest] = ofUser;
      if (oldest === undefined || organization === undefined || user === undefined) return undefined;
      const isTurnOfOldest = users.turn(user) % OLDEST_EVERY === 0;
      const next = isTurnOfOldest
        ? oldest
        : ofUser.reduce((smallest, piece) => (piece.size < smallest.size ? piece : smallest));
      organizations.turn(organization);
      leave(next);
      return next;
    },
    some: (may) => [...waiting].some((piece) => may(piece)),
    charge(owner, cost) {
      organizations.charge(owner.organizationId, cost);
      users.charge(userOf(owner), cost);
    },
    drain() {
      const all = [...waiting];
      all.forEach(leave);
      return all;
    },
  };
}

/**
 * Start-time fair queueing: an owner that starts to wait begins at the time of the one that was served last.
 * @see Goyal, Vin and Cheng, "Start-time fair queueing", SIGCOMM 1996
 */
function createShares() {
  const shares = new Map<string, Share>();
  let now = 0;
  const shareOf = (name: string): Share => {
    const share = shares.get(name) ?? { used: now, turns: 0, waiting: 0 };
    shares.set(name, share);
    return share;
  };
  const forgetIdle = (): void => {
    for (const [name, share] of shares) if (share.waiting === 0) shares.delete(name);
  };
  return {
    enter(name: string): void {
      if (shares.size > MAX_SHARES) forgetIdle();
      const share = shareOf(name);
      if (share.waiting === 0) share.used = Math.max(share.used, now);
      share.waiting++;
    },
    leave(name: string): void {
      shareOf(name).waiting--;
    },
    least(names: readonly string[]): string | undefined {
      let least: string | undefined;
      for (const name of new Set(names))
        if (least === undefined || shareOf(name).used < shareOf(least).used) least = name;
      return least;
    },
    /** @returns its turns so far, this one included. */
    turn(name: string): number {
      const share = shareOf(name);
      now = Math.max(now, share.used);
      share.turns++;
      return share.turns;
    },
    charge(name: string, cost: number): void {
      shareOf(name).used += cost;
    },
  };
}
