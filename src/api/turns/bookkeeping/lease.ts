/** Renews this API process's lease each second. Once it runs out, others end the turns of its holder. */
import { PAUSES } from "#timings";
import type { Database } from "../../../db/pool.ts";
import { every } from "../../../process/concurrency/rounds.ts";
import { deleteApiProcess, renewApiProcess } from "../../../db/instance/process-leases.ts";

export interface Lease {
  /** Stops renewing. With `isClean`, when no turn is left open, the lease is given back at once. */
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
  const renew = async (): Promise<void> => {
    if (!(await renewApiProcess(db, id, false))) on.lost();
  };
  const rounds = every(PAUSES.processLease, renew, on.error);
  return {
    async end(isClean) {
      await rounds.stop();
      if (isClean) await deleteApiProcess(db, id);
    },
  };
}
