/** The only place that ends the turns of this process that another one cancelled in the books: those of a user who was removed. */
import type { Database } from "../../db/pool.ts";
import { findCancelledTurns } from "../../db/turns.ts";
import type { OpenTurns } from "./open-turns.ts";

const LOOK_MS = 1_000;

/** Looks each second, while turns are open. @returns what stops it. */
export function watchCancelledTurns(db: Database, openTurns: OpenTurns, onError: (error: unknown) => void): () => void {
  let isBusy = false;
  const look = async (): Promise<void> => {
    const running = new Map(openTurns.all().flatMap((turn) => (turn.status === undefined ? [[turn.row.id, turn] as const] : [])));
    if (running.size === 0) return;
    for (const id of await findCancelledTurns(db, [...running.keys()])) running.get(id)?.abort();
  };
  const timer = setInterval(() => {
    if (isBusy) return;
    isBusy = true;
    void look()
      .catch(onError)
      .finally(() => (isBusy = false));
  }, LOOK_MS);
  return () => clearInterval(timer);
}
