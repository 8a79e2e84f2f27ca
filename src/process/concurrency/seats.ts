/** Bounds how much of one kind callers may have open or waiting at once. */
import { DomainError } from "../../domain/errors.ts";
import type { Principal } from "../../domain/tenancy/principal.ts";
import { rateLimited } from "../../telemetry/instruments.ts";

export interface Seats<Kind extends string> {
  /**
   * @param weight how many seats it takes. Default 1.
   * @returns what gives the seat back; it may be called more than once.
   * @throws DomainError `too_many_open` if one of the owners has no seat left.
   */
  take(principal: Principal, kind: Kind, weight?: number): () => void;
  counts(): Readonly<Record<Kind, number>>;
}

type SeatOwner = "key" | "user" | "organization" | "process";

interface SeatOptions<Kind extends string> {
  readonly kinds: readonly Kind[];
  /** The most of one owner; who is left out has no bound. */
  readonly most: Readonly<Partial<Record<SeatOwner, number>>>;
  /** What is counted, as budgets name it: `event-streams`. */
  readonly of: string;
  /** Begins the message of a refusal. */
  readonly refusal: string;
  readonly retryAfterSeconds: number;
}

interface Bound {
  readonly owner: SeatOwner;
  readonly id: string;
  readonly quota: number;
}

export function createSeats<Kind extends string>(options: SeatOptions<Kind>): Seats<Kind> {
  const taken = new Map<string, number>();
  const open = Object.fromEntries(options.kinds.map((kind) => [kind, 0])) as Record<Kind, number>;

  const countOf = ({ owner, id }: Bound): number => taken.get(`${owner} ${id}`) ?? 0;
  const add = ({ owner, id }: Bound, more: number): void => {
    const name = `${owner} ${id}`;
    const count = (taken.get(name) ?? 0) + more;
    if (count === 0) taken.delete(name);
    else taken.set(name, count);
  };

  return {
    take(principal, kind, weight = 1) {
      const bounds = boundsOf(principal, options.most);
      const full = bounds.find((bound) => countOf(bound) + weight > bound.quota);
      if (full !== undefined) throw refusalOf(full, options);
      for (const bound of bounds) add(bound, weight);
      open[kind] += weight;
      let isTaken = true;
      return () => {
        if (!isTaken) return;
        isTaken = false;
        for (const bound of bounds) add(bound, -weight);
        open[kind] -= weight;
      };
    },
    counts: () => ({ ...open }),
  };
}

const ID_OF: Readonly<Record<SeatOwner, (principal: Principal) => string | null>> = {
  key: ({ apiKeyId }) => apiKeyId,
  user: ({ user }) => user.id,
  organization: ({ organization }) => organization.id,
  process: () => "",
};

function boundsOf(principal: Principal, most: SeatOptions<string>["most"]): Bound[] {
  return (Object.keys(most) as SeatOwner[]).flatMap((owner) => {
    const id = ID_OF[owner](principal);
    const quota = most[owner];
    return id === null || quota === undefined ? [] : [{ owner, id, quota }];
  });
}

function refusalOf(
  { owner, quota }: Bound,
  { of, refusal, retryAfterSeconds }: Pick<SeatOptions<string>, "of" | "refusal" | "retryAfterSeconds">,
): DomainError {
  rateLimited.inc({ budget: of.replaceAll("-", "_") });
  return new DomainError("too_many_open", `${refusal}: at most ${quota}`, {
    retryAfterSeconds,
    budget: { name: `${owner}-${of}`, quota },
  });
}
