/** The only place that ends the chat turns of API processes that died. */
import type { Client } from "@temporalio/client";
import type { Database } from "../../db/pool.ts";
import {
  deleteApiProcess,
  findDeadApiProcesses,
  findTurnsOfProcess,
  loseTurns,
} from "../../db/turns/ledger.ts";
import { listRunningTurns, terminateTurns } from "../../temporal/start/chat.ts";

/** A lease is renewed each second; with a sweep each second a dead process is seen within five. */
const LEASE_SECONDS = 3;

interface SweeperDeps {
  readonly db: Database;
  readonly client: Client;
  readonly nowMs?: () => number;
}

/**
 * One round: turns of dead leases end as `lost`, their workflows and those of turns that had ended just before are terminated, and the lease goes once both are done; what fails is
 * done by the next round. After an outage of the database it waits for as long as a lease lasts, since nobody could renew meanwhile.
 */
export function createTurnSweeper({ db, client, nowMs = Date.now }: SweeperDeps): () => Promise<void> {
  let reachableSinceMs: number | null = nowMs();
  return async () => {
    const dead = await findDeadApiProcesses(db, LEASE_SECONDS).catch((error: unknown) => {
      reachableSinceMs = null;
      throw error;
    });
    reachableSinceMs ??= nowMs();
    if (dead.length === 0 || nowMs() - reachableSinceMs < LEASE_SECONDS * 1_000) return;
    for (const apiProcessId of dead) {
      const lost = await loseTurns(db, apiProcessId);
      // The books may have had a turn's end before its workflow was told, which nobody does any more.
      const untold = await findTurnsOfProcess(db, apiProcessId, await listRunningTurns(client));
      await terminateTurns(client, apiProcessId, [...lost, ...untold]);
      await deleteApiProcess(db, apiProcessId);
    }
  };
}
