/** Gives a turn that was cancelled among others its own workflow, so that Temporal shows it as cancelled. */
import type { Log } from "../../../process/log.ts";
import type { Turn } from "../turn.ts";

const STARTS_IN_FLIGHT = 2;
/** If more clients than this leave at once, the other turns are cancelled only in the database. */
const WAITING_MAX = 1_000;

/**
 * @param start starts the workflow of one turn. If it fails that is only logged, because the turn's row says
 *   the same.
 * @returns a function that queues a turn; two starts run at once.
 */
export function createCancelledBookkeeping(
  start: (turn: Turn) => Promise<void>,
  log: Log,
): (turn: Turn) => void {
  const waiting: Turn[] = [];
  let inFlight = 0;
  const next = (): void => {
    const turn = inFlight < STARTS_IN_FLIGHT ? waiting.shift() : undefined;
    if (turn === undefined) return;
    inFlight += 1;
    void start(turn)
      .catch((error: unknown) =>
        log.info({ err: error, turn_id: turn.row.id }, "a cancelled turn has no workflow"),
      )
      .finally(() => {
        inFlight -= 1;
        next();
      });
  };
  return (turn) => {
    if (waiting.length >= WAITING_MAX) return;
    waiting.push(turn);
    next();
  };
}
