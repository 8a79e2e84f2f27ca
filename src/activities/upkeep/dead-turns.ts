/** Ends the chat turns of API processes that died. */
import { DEADLINES } from "#timings";
import type { Client } from "@temporalio/client";
import type { Database } from "../../db/pool.ts";
import { deleteApiProcess, findDeadApiProcesses } from "../../db/instance/process-leases.ts";
import { findTurnsOfProcess, loseTurns } from "../../db/turns/ledger.ts";
import { listRunningTurns, terminateTurns } from "../../temporal/start/chat.ts";

interface SweeperDeps {
  readonly db: Database;
  readonly client: Client;
  readonly nowMs?: () => number;
}

/**
 * Returns a round of the sweep. Turns of an expired lease end as `lost`; their workflows, and those of turns
 * that had ended just before, are terminated; then the lease is deleted. The next round does what failed.
 * After an outage of the database it waits for the length of a lease, because no process could renew its own
 * meanwhile.
 */
export function createTurnSweeper({ db, client, nowMs = Date.now }: SweeperDeps): () => Promise<void> {
  let reachableSinceMs: number | null = nowMs();
  return async () => {
    const dead = await findDeadApiProcesses(db).catch((error: unknown) => {
      reachableSinceMs = null;
      throw error;
    });
    reachableSinceMs ??= nowMs();
    if (dead.length === 0 || nowMs() - reachableSinceMs < DEADLINES.processLease) return;
    for (const apiProcessId of dead) {
      const lost = await loseTurns(db, apiProcessId);
      // The process may have died between a turn's end in the ledger and its workflow's: none reports that.
      const unreported = await findTurnsOfProcess(db, apiProcessId, await listRunningTurns(client));
      await terminateTurns(client, apiProcessId, [...lost, ...unreported]);
      await deleteApiProcess(db, apiProcessId);
    }
  };
}
