/**
 * Renews the lease of this API process each second. Once a lease runs out, other processes end the turns of
 * its holder.
 */
import { PAUSES } from "#timings";
import type { Database } from "../../../db/pool.ts";
import { deleteApiProcess, renewApiProcess } from "../../../db/turns/ledger.ts";

export interface Lease {
  /**
   * Stops renewing. With `isClean`, which means that no turn is left open, the lease is given back at once.
   */
  end(isClean: boolean): Promise<void>;
}

/**
 * Takes the lease, and resolves once it is written.
 * @param on `lost` is called if others ended this process's turns because its lease ran out; `error` for each
 *   failed renewal.
 */
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
      .finally(() => {
        isBusy = false;
      });
  }, PAUSES.turnLease);
  return {
    async end(isClean) {
      clearInterval(timer);
      await renewing;
      if (isClean) await deleteApiProcess(db, id);
    },
  };
}
