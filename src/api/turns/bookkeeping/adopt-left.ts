/** Starts workflows that adopt the turns which ended without one, as soon as Temporal is there. */
import { setTimeout as sleep } from "node:timers/promises";
import { PAUSES } from "#timings";
import type { Database } from "../../../db/pool.ts";
import { TURNS_AN_ADOPTION, giveBackTurns, takeWaitingTurns } from "../../../db/turns/adoption.ts";
import { newId } from "../../../domain/ids.ts";
import { every } from "../../../process/concurrency/rounds.ts";
import { drillPoint } from "../../../telemetry/drill-point.ts";
import type { ChatStarter } from "../../../temporal/start/chat.ts";
import type { TemporalHealth } from "./temporal-health.ts";

/** Leaves Temporal to the turns that run now, also while an hour of others waits. */
const STARTS_APART_MS = 250;

interface AdoptionDeps {
  readonly db: Database;
  readonly apiProcessId: string;
  /** The task queue of this process. Its activity knows rows that wait; that of 0.10 only its memory. */
  readonly apiQueue: string;
  readonly starter: Pick<ChatStarter, "startTurns">;
  readonly health: Pick<TemporalHealth, "downForMs">;
  readonly onError: (error: unknown) => void;
}

/** Looks each second while Temporal answers. @returns a function that stops it. */
export function adoptLeftTurns(deps: AdoptionDeps): () => void {
  const { health, onError } = deps;
  let isStopped = false;
  const adopt = async (): Promise<void> => {
    while (!isStopped && health.downForMs() === 0 && (await adoptOldest(deps)) === TURNS_AN_ADOPTION)
      await sleep(STARTS_APART_MS);
  };
  const rounds = every(PAUSES.sweep, adopt, onError);
  return () => {
    isStopped = true;
    void rounds.stop();
  };
}

/** @returns how many turns the new workflow is to adopt. */
async function adoptOldest({ db, apiProcessId, apiQueue, starter }: AdoptionDeps): Promise<number> {
  const turnIds = await takeWaitingTurns(db);
  if (turnIds.length === 0) return 0;
  await drillPoint("chatTurns: waiting turns taken, workflow not started");
  try {
    await starter.startTurns(apiProcessId, `waited-${newId()}`, { apiQueue, turnIds });
  } catch (error) {
    await giveBackTurns(db, turnIds);
    throw error;
  }
  return turnIds.length;
}
