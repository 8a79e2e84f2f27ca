/** The only writer of the turn books in an API process: what gathers while one write is under way goes with the next. */
import type { Database } from "../../db/pool.ts";
import { type TurnCallRow, type TurnEnd, type TurnRow, insertOpenTurns, writeTurnEnds } from "../../db/turns.ts";
import type { Log } from "../../log.ts";

export interface Ledger {
  /** Notes turns as open. A failure is logged: their ends note them as well. */
  open(turns: readonly TurnRow[]): Promise<void>;
  call(call: TurnCallRow): void;
  end(end: TurnEnd): void;
  /** Resolves when all that was given before is written, or `timeoutMs` have passed. */
  flushed(timeoutMs: number): Promise<void>;
}

const ENTRIES_A_WRITE = 500;
/** Without a database the oldest are given up beyond this; a log line says how many. */
const WAITING_MAX = 20_000;
const RETRY_MS = 1_000;

export function createLedger(db: Database, log: Log): Ledger {
  let ends: TurnEnd[] = [];
  let calls: TurnCallRow[] = [];
  let writing: Promise<void> | null = null;

  const write = async (): Promise<void> => {
    while (ends.length + calls.length > 0) {
      const [someEnds, someCalls] = [ends.splice(0, ENTRIES_A_WRITE), calls.splice(0, ENTRIES_A_WRITE)];
      try {
        await writeTurnEnds(db, someEnds, someCalls);
      } catch (error) {
        log.warn({ err: error, turns: someEnds.length, calls: someCalls.length }, "the books of chat turns wait for the database");
        ends = bounded([...someEnds, ...ends]);
        calls = bounded([...someCalls, ...calls]);
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
    writing = null;
  };
  const bounded = <Entry>(entries: Entry[]): Entry[] => {
    if (entries.length > WAITING_MAX) log.error({ lost: entries.length - WAITING_MAX }, "entries of chat's books were given up");
    return entries.slice(-WAITING_MAX);
  };
  const wake = (): void => {
    // A turn's last call and its end are given together: one write takes both.
    writing ??= Promise.resolve().then(write);
  };

  return {
    async open(turns) {
      await insertOpenTurns(db, turns).catch((error: unknown) => log.warn({ err: error, turns: turns.length }, "turns could not be noted as open"));
    },
    call(call) {
      calls.push(call);
      wake();
    },
    end(end) {
      ends.push(end);
      wake();
    },
    async flushed(timeoutMs) {
      const timeout = new Promise<void>((resolve) => setTimeout(resolve, timeoutMs).unref());
      await Promise.race([writing ?? Promise.resolve(), timeout]);
    },
  };
}
