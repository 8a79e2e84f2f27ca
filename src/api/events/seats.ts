/** Bounds how many streams and waits a key, a user and this process have open at once. */
import { DomainError } from "../../domain/errors.ts";
import type { Principal } from "../../domain/tenancy/principal.ts";
import { rateLimited } from "../../telemetry/instruments.ts";

const STREAMS_PER_KEY = 10;
const STREAMS_PER_USER = 20;

type Kind = "stream" | "wait";

export interface Seats {
  /**
   * @returns what gives the seat back; it may be called more than once.
   * @throws DomainError `rate_limited` if the key, the user or the process has no seat left.
   */
  take(principal: Principal, kind: Kind): () => void;
  counts(): Readonly<Record<Kind, number>>;
}

const RETRY_AFTER_SECONDS = 5;

interface Bound {
  readonly owner: "key" | "user" | "process";
  readonly id: string;
  readonly quota: number;
}

/** @param perProcess how many there may be of all callers together. */
export function createSeats(perProcess: number): Seats {
  const taken = new Map<string, number>();
  const open = { stream: 0, wait: 0 };

  const countOf = ({ owner, id }: Bound): number => taken.get(`${owner} ${id}`) ?? 0;
  const add = ({ owner, id }: Bound, more: 1 | -1): void => {
    const name = `${owner} ${id}`;
    const count = (taken.get(name) ?? 0) + more;
    if (count === 0) taken.delete(name);
    else taken.set(name, count);
  };

  return {
    take(principal, kind) {
      const bounds = boundsOf(principal, perProcess);
      const full = bounds.find((bound) => countOf(bound) >= bound.quota);
      if (full !== undefined) throw refusal(full);
      for (const bound of bounds) add(bound, 1);
      open[kind] += 1;
      let isTaken = true;
      return () => {
        if (!isTaken) return;
        isTaken = false;
        for (const bound of bounds) add(bound, -1);
        open[kind] -= 1;
      };
    },
    counts: () => ({ ...open }),
  };
}

function boundsOf({ apiKeyId, user }: Principal, perProcess: number): Bound[] {
  return [
    ...(apiKeyId === null ? [] : [{ owner: "key", id: apiKeyId, quota: STREAMS_PER_KEY } as const]),
    { owner: "user", id: user.id, quota: STREAMS_PER_USER },
    { owner: "process", id: "", quota: perProcess },
  ];
}

function refusal({ owner, quota }: Bound): DomainError {
  rateLimited.inc({ budget: "event_streams" });
  return new DomainError("too_many_open", `Too many open streams and waits for events: at most ${quota}`, {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    budget: { name: `${owner}-event-streams`, quota },
  });
}
