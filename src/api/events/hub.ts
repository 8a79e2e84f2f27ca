/** Tells those who wait for an organization's events of new ones. Waiting takes no database connection. */
import { shareRounds } from "../../process/concurrency/share-rounds.ts";

export interface EventHub {
  /**
   * Waits until the organization's log goes past `position`.
   * @returns its new end; undefined if the time is up, the client left, or the process stops.
   */
  later(organizationId: string, position: number, within: Within): Promise<number | undefined>;
  /** True once {@link EventHub.drain} was called: whoever streams or waits comes to an end. */
  readonly isDraining: boolean;
  /** Ends all waits, and every later one at once. */
  drain(): void;
  close(): Promise<void>;
}

interface Within {
  readonly timeoutMs: number;
  /** Aborted if the client goes away. */
  readonly signal: AbortSignal;
}

interface HubParts {
  /** The last positions of organizations; those without events may be left out. */
  readonly readLast: (organizationIds: readonly string[]) => Promise<ReadonlyMap<string, number>>;
  /** Calls back for each organization that has new events, and after each time that it was deaf. */
  readonly listen: (heard: {
    onEvents: (organizationId: string) => void;
    onConnected: () => void;
  }) => () => Promise<void>;
  /** How often it looks without having heard anything. Default 2 s. */
  readonly lookEveryMs?: number;
  /** Told of the first of several looks in a row that fail. */
  readonly onFailure: (error: unknown) => void;
}

interface Waiter {
  readonly position: number;
  readonly wake: (last: number | undefined) => void;
}

interface FollowedLog {
  /** Undefined until the first look. */
  last: number | undefined;
  readonly waiters: Set<Waiter>;
}

const LOOK_EVERY_MS = 2_000;

export function createEventHub({
  readLast,
  listen,
  lookEveryMs = LOOK_EVERY_MS,
  onFailure,
}: HubParts): EventHub {
  /** Only of organizations for which somebody waits. */
  const logs = new Map<string, FollowedLog>();
  let isDraining = false;
  const looks = createLooks({ logs, readLast, onFailure });
  const timer = setInterval(() => looks.at(logs.keys()), lookEveryMs).unref();
  const stopListening = listen({
    onEvents: (organizationId) => looks.at([organizationId]),
    onConnected: () => looks.at(logs.keys()),
  });

  function logOf(organizationId: string): FollowedLog {
    const known = logs.get(organizationId);
    if (known !== undefined) return known;
    const log: FollowedLog = { last: undefined, waiters: new Set() };
    logs.set(organizationId, log);
    looks.at([organizationId]);
    return log;
  }

  return {
    async later(organizationId, position, { timeoutMs, signal }) {
      if (isDraining || signal.aborted) return undefined;
      const log = logOf(organizationId);
      if (log.last !== undefined && log.last > position) return log.last;
      const woken = Promise.withResolvers<number | undefined>();
      const waiter: Waiter = { position, wake: woken.resolve };
      const giveUp = (): void => woken.resolve(undefined);
      const timeout = setTimeout(giveUp, timeoutMs);
      signal.addEventListener("abort", giveUp);
      log.waiters.add(waiter);
      try {
        return await woken.promise;
      } finally {
        clearTimeout(timeout);
        signal.removeEventListener("abort", giveUp);
        log.waiters.delete(waiter);
        if (log.waiters.size === 0) logs.delete(organizationId);
      }
    },
    get isDraining() {
      return isDraining;
    },
    drain() {
      isDraining = true;
      for (const { waiters } of logs.values()) for (const waiter of waiters) waiter.wake(undefined);
    },
    async close() {
      clearInterval(timer);
      await stopListening();
      await looks.idle();
    },
  };
}

interface Looks {
  /** Finds out soon how far these logs go, and wakes whoever waits for that. */
  at(organizationIds: Iterable<string>): void;
  idle(): Promise<void>;
}

function createLooks({
  logs,
  readLast,
  onFailure,
}: Pick<HubParts, "readLast" | "onFailure"> & { readonly logs: ReadonlyMap<string, FollowedLog> }): Looks {
  const due = new Set<string>();
  let hasFailed = false;

  const look = shareRounds(async () => {
    const organizationIds = [...due].filter((id) => logs.has(id));
    due.clear();
    if (organizationIds.length === 0) return;
    try {
      const found = await readLast(organizationIds);
      hasFailed = false;
      for (const id of organizationIds) wakeWaiters(logs.get(id), found.get(id) ?? 0);
    } catch (error) {
      // The next look is soon; waiters see nothing of it.
      if (!hasFailed) onFailure(error);
      hasFailed = true;
    }
  });
  return {
    at(organizationIds) {
      for (const id of organizationIds) if (logs.has(id)) due.add(id);
      if (due.size > 0) void look();
    },
    idle: look,
  };
}

function wakeWaiters(log: FollowedLog | undefined, last: number): void {
  if (log === undefined) return;
  log.last = last;
  for (const waiter of log.waiters) if (last > waiter.position) waiter.wake(last);
}
