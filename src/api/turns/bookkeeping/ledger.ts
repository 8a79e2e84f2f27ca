/** The only writer of the turn books in an API process: what gathers while one write is under way goes with the next. */
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
  /** Notes a turn as open after {@link OPENS_APART_MS}, unless it has ended by then. A failure is logged: its end notes it as well. */
  open(turn: TurnRow): void;
  /** Resolves when the turn is noted as open; it does not wait for others to gather. */
  noted(turn: TurnRow): Promise<void>;
  call(call: TurnCallRow): void;
  end(end: TurnEnd): void;
  /** Resolves when all that was given before is written, or `timeoutMs` have passed. */
  flushed(timeoutMs: number): Promise<void>;
}

/** Behind the turn's first model call, which would wait for it. A turn whose process is killed sooner leaves no trace but its client's broken connection. */
const OPENS_APART_MS = 20;
/** Behind the answer's last piece, on which the client's next request follows. A process that is killed sooner has lost the turn. */
const ENDS_APART_MS = 10;
const ENTRIES_A_WRITE = 500;
/** Without a database the oldest are given up beyond this; a log line says how many. */
const WAITING_MAX = 20_000;
const RETRY_MS = 1_000;

export function createLedger(db: Database, log: Log): Ledger {
  let ends: TurnEnd[] = [];
  let calls: TurnCallRow[] = [];
  let writing: Promise<void> | null = null;
  const begun = new Map<string, TurnRow>();
  let opening: Promise<void> = Promise.resolve();
  let isGathering = false;

  const writeOpen = (turns: readonly TurnRow[]): Promise<void> =>
    insertOpenTurns(db, turns).catch((error: unknown) =>
      log.warn({ err: error, turns: turns.length }, "turns could not be noted as open"),
    );
  const openNext = async (): Promise<void> => {
    while (begun.size > 0) {
      await sleep(OPENS_APART_MS);
      const turns = [...begun.values()];
      begun.clear();
      opening = turns.length > 0 ? writeOpen(turns) : Promise.resolve();
      await opening;
    }
    isGathering = false;
  };

  const write = async (): Promise<void> => {
    while (ends.length + calls.length > 0) {
      // A turn's last call and its end are given together, and others gather: one write takes them all.
      if (ends.length < ENTRIES_A_WRITE) await sleep(ENDS_APART_MS);
      const [someEnds, someCalls] = [ends.splice(0, ENTRIES_A_WRITE), calls.splice(0, ENTRIES_A_WRITE)];
      try {
        await writeTurnEnds(db, someEnds, someCalls);
      } catch (error) {
        log.warn(
          { err: error, turns: someEnds.length, calls: someCalls.length },
          "the books of chat turns wait for the database",
        );
        ends = bounded([...someEnds, ...ends]);
        calls = bounded([...someCalls, ...calls]);
        await sleep(RETRY_MS);
      }
    }
    writing = null;
  };
  const bounded = <Entry>(entries: Entry[]): Entry[] => {
    if (entries.length > WAITING_MAX)
      log.error({ lost: entries.length - WAITING_MAX }, "entries of chat's books were given up");
    return entries.slice(-WAITING_MAX);
  };
  const wake = (): void => {
    writing ??= write();
  };

  return {
    open(turn) {
      begun.set(turn.id, turn);
      if (isGathering) return;
      isGathering = true;
      void openNext();
    },
    noted: (turn) => (begun.delete(turn.id) ? writeOpen([turn]) : opening),
    call(call) {
      calls.push(call);
      wake();
    },
    end(end) {
      begun.delete(end.id);
      ends.push(end);
      wake();
    },
    async flushed(timeoutMs) {
      const timeout = new Promise<void>((resolve) => setTimeout(resolve, timeoutMs).unref());
      await Promise.race([writing ?? Promise.resolve(), timeout]);
    },
  };
}
