/** Ends turns of this process that another has cancelled in the database: their user was removed. */
import type { Database } from "../../../db/pool.ts";
import { findCancelledTurns } from "../../../db/turns/ledger.ts";
import { every } from "../../../process/concurrency/rounds.ts";
import type { OpenTurns } from "./open-turns.ts";

const LOOK_MS = 1_000;

/** Asks the database each second while turns are open. @returns a function that stops it. */
export function watchCancelledTurns(
  db: Database,
  openTurns: OpenTurns,
  onError: (error: unknown) => void,
): () => void {
  const look = async (): Promise<void> => {
    const running = openTurns.all().filter((turn) => turn.status === undefined);
    if (running.length === 0) return;
    const rows = running.map((turn) => turn.row);
    const cancelled = new Set(await findCancelledTurns(db, rows));
    for (const turn of running) if (cancelled.has(turn.row.id)) turn.abort();
  };
  const rounds = every(LOOK_MS, look, onError);
  return () => void rounds.stop();
}
