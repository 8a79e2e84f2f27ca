/** Writes the rows of chat turns. What comes in while one write is under way goes with the next one. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Database } from "../../../db/pool.ts";
import {
  type TurnCallRow,
  type TurnEnd,
  type TurnRow,
  insertOpenTurns,
  writeTurnEnds,
} from "../../../db/turns/ledger.ts";
import type { Log } from "../../../process/log.ts";

export interface Ledger {
  /**
   * Writes a turn as open after {@link OPENS_APART_MS}, unless it has ended by then. A failure is only
   * logged: its end writes the whole row.
   */
  open(turn: TurnRow): void;
  /** Writes the turn as open without waiting for others, and resolves when it is written. */
  noted(turn: TurnRow): Promise<void>;
  call(call: TurnCallRow): void;
  end(end: TurnEnd): void;
  /** Lets a turn that has ended wait in its row for a workflow that adopts it. */
  leave(turnId: string): void;
  /** Resolves when everything before this call is written, or after `timeoutMs`. */
  flushed(timeoutMs: number): Promise<void>;
}

/**
 * How long opened turns are gathered for one write. This also keeps the write out of the way of their first
 * model calls. A turn whose process is killed sooner leaves no row.
 */
const OPENS_APART_MS = 20;
/** How long ends are gathered for one write after the answers. A turn killed sooner ends as lost. */
const ENDS_APART_MS = 10;
const ENTRIES_A_WRITE = 500;
/** While the database is down, the oldest entries beyond this number are dropped; a log line counts them. */
const WAITING_MAX = 20_000;
const RETRY_MS = 1_000;

export function createLedger(db: Database, log: Log): Ledger {
  const opens = createOpenWriter(db, log);
  const ends = createEndWriter(db, log);
  return {
    open: (turn) => opens.add(turn),
    noted: (turn) => opens.noted(turn),
    call: (call) => ends.addCall(call),
    end(end) {
      opens.forget(end.id);
      ends.addEnd(end);
    },
    leave: (turnId) => ends.addLeft(turnId),
    async flushed(timeoutMs) {
      const timeout = new Promise<void>((resolve) => setTimeout(resolve, timeoutMs).unref());
      await Promise.race([ends.written(), timeout]);
    },
  };
}

function createOpenWriter(db: Database, log: Log) {
  const begun = new Map<string, TurnRow>();
  let writing: Promise<void> = Promise.resolve();
  let isGathering = false;

  const write = (turns: readonly TurnRow[]): Promise<void> =>
    insertOpenTurns(db, turns).catch((error: unknown) =>
      log.warn({ err: error, turns: turns.length }, "open turns could not be recorded"),
    );
  const writeAll = async (): Promise<void> => {
    while (begun.size > 0) {
      await sleep(OPENS_APART_MS);
      const turns = [...begun.values()];
      begun.clear();
      writing = turns.length > 0 ? write(turns) : Promise.resolve();
      await writing;
    }
    isGathering = false;
  };

  return {
    add(turn: TurnRow): void {
      begun.set(turn.id, turn);
      if (isGathering) return;
      isGathering = true;
      void writeAll();
    },
    forget: (turnId: string): boolean => begun.delete(turnId),
    noted: (turn: TurnRow): Promise<void> => (begun.delete(turn.id) ? write([turn]) : writing),
  };
}

function createEndWriter(db: Database, log: Log) {
  let ends: TurnEnd[] = [];
  let calls: TurnCallRow[] = [];
  let left: string[] = [];
  let writing: Promise<void> | null = null;

  const bounded = <Entry>(entries: Entry[]): Entry[] => {
    if (entries.length > WAITING_MAX)
      log.error({ lost: entries.length - WAITING_MAX }, "chat turn records were dropped");
    return entries.slice(-WAITING_MAX);
  };
  const writeAll = async (): Promise<void> => {
    while (ends.length + calls.length + left.length > 0) {
      // One write takes a turn's last call, its end, and those of other turns.
      if (ends.length < ENTRIES_A_WRITE) await sleep(ENDS_APART_MS);
      const someEnds = ends.splice(0, ENTRIES_A_WRITE);
      const someCalls = calls.splice(0, ENTRIES_A_WRITE);
      // A turn is left after its end, so its end must not still be waiting here.
      const someLeft = ends.length === 0 ? left.splice(0, ENTRIES_A_WRITE) : [];
      try {
        await writeTurnEnds(db, someEnds, someCalls, someLeft);
      } catch (error) {
        log.warn(
          { err: error, turns: someEnds.length, calls: someCalls.length },
          "chat turn records are waiting for the database",
        );
        ends = bounded([...someEnds, ...ends]);
        calls = bounded([...someCalls, ...calls]);
        left = bounded([...someLeft, ...left]);
        await sleep(RETRY_MS);
      }
    }
    writing = null;
  };
  const wake = (): void => {
    writing ??= writeAll();
  };

  return {
    addCall(call: TurnCallRow): void {
      calls.push(call);
      wake();
    },
    addEnd(end: TurnEnd): void {
      ends.push(end);
      wake();
    },
    addLeft(turnId: string): void {
      left.push(turnId);
      wake();
    },
    written: (): Promise<void> => writing ?? Promise.resolve(),
  };
}
