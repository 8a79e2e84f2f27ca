/** The only place that keeps this API process alive in the eyes of the others: its lease, renewed each second. */
import type { Database } from "../../../db/pool.ts";
import { deleteApiProcess, renewApiProcess } from "../../../db/turns/ledger.ts";

const RENEW_MS = 1_000;

export interface Lease {
  /** Stops renewing, and gives the lease back where `isClean`: no turn is left that others would have to end. */
  end(isClean: boolean): Promise<void>;
}

/** `onLost` is told that others took this process for dead and ended its turns; `onError` of each renewal that failed. */
export async function holdLease(
  db: Database,
  id: string,
  on: { lost: () => void; error: (error: unknown) => void },
): Promise<Lease> {
  await renewApiProcess(db, id, true);
  let renewing: Promise<void> = Promise.resolve();
  let isBusy = false;
  const timer = setInterval(() => {
    if (isBusy) return;
    isBusy = true;
    renewing = renewApiProcess(db, id, false)
      .then((isKept) => (isKept ? undefined : on.lost()), on.error)
      .finally(() => (isBusy = false));
  }, RENEW_MS);
  return {
    async end(isClean) {
      clearInterval(timer);
      await renewing;
      if (isClean) await deleteApiProcess(db, id);
    },
  };
}
