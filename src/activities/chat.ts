/** The activities of an API process's own queue: they take over its turns, and turns without a workflow. */
import { PAUSES } from "#timings";
import { setTimeout as sleep } from "node:timers/promises";
import { Context } from "@temporalio/activity";
import type { AdoptedStatus, StepResult, ToolResult } from "../domain/work/turn.ts";
import { drillPoint } from "../telemetry/drill-point.ts";
import { withHeartbeat } from "./heartbeat.ts";

/** How many turns of a group ended in each way. Turns that were `handed_over` go on in their own workflow. */
export interface AdoptedTurns {
  readonly completed: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly handed_over: number;
  readonly unknown: number;
}

export type AdoptedEnd = keyof AdoptedTurns;

interface CallModelInput {
  readonly turnId: string;
  /** Counted from 1, for the call after the first tools. */
  readonly no: number;
  readonly results: readonly ToolResult[];
}

/** Ends the wait of those turns that wait without a workflow. @returns how each had ended. */
export type AdoptWaiting = (turnIds: readonly string[]) => Promise<readonly AdoptedStatus[]>;

/** The turns in this process's memory, as its activities see them. */
export interface TurnsInMemory {
  /** Waits until the turn ended or needs its own workflow; another process's turn is `unknown` at once. */
  adopt(turnId: string): Promise<AdoptedEnd>;
  /** Makes model call `no` of a turn with its tools' results. Idempotent: a repeat gets the same result. */
  step(turnId: string, no: number, results: readonly ToolResult[]): Promise<StepResult>;
  /** A signal that aborts with the turn; undefined for a turn of another process. */
  abortedSignal(turnId: string): AbortSignal | undefined;
}

export interface ChatActivities {
  adoptTurns(turnIds: readonly string[]): Promise<AdoptedTurns>;
  callModel(input: CallModelInput): Promise<StepResult>;
}

/** For workers, which have no turns of their own but run the workflows of API processes that died. */
export const NO_TURNS: TurnsInMemory = {
  adopt: async () => "unknown",
  step: async () => ({ type: "unknown" }),
  abortedSignal: () => undefined,
};

const FAST_HEARTBEAT_MS = 250;
/** Lets the next request, which often follows an answer at once, go before the bookkeeping. */
const BEHIND_ANSWER_MS = 20;
/** How long a group of cancelled turns waits for Temporal's cancel request, to end as cancelled too. */
const CANCEL_WAIT_MS = 3_000;

/** @param adoptWaiting Default: none waits. Only an API process's own queue runs `adoptTurns`. */
export function createChatActivities(
  turns: TurnsInMemory,
  adoptWaiting: AdoptWaiting = async () => [],
): ChatActivities {
  return {
    adoptTurns: (turnIds) =>
      withHeartbeat(async () => {
        const ends = await Promise.all(turnIds.map((turnId) => turns.adopt(turnId)));
        const others = turnIds.filter((_turnId, index) => ends[index] === "unknown");
        const waited = others.length === 0 ? [] : await adoptWaiting(others);
        await drillPoint("chatTurns: turns ended, workflow not told");
        const counts = { completed: 0, failed: 0, cancelled: 0, handed_over: 0, unknown: 0 };
        for (const end of ends) counts[end] += 1;
        // Cancelled turns are dropped from memory at once, so they may be unknown by now.
        const isCancelled = waited.length === 0 && counts.cancelled + counts.unknown === turnIds.length;
        counts.unknown -= waited.length;
        for (const end of waited) counts[end] += 1;
        if (isCancelled) await untilCancelled();
        else await sleep(BEHIND_ANSWER_MS);
        return counts;
      }, PAUSES.adoptionHeartbeat),
    callModel: (input) =>
      withHeartbeat(async () => {
        const step = await turns.step(input.turnId, input.no, input.results);
        await drillPoint("chatTurn: model answered, workflow not told");
        // A local activity cannot see a cancel; its workflow waits for it instead.
        if (step.type === "ended" && step.status === "cancelled" && !Context.current().info.isLocal)
          await untilCancelled();
        return step;
      }),
  };
}

/** @throws CancelledFailure when the cancel request arrives. Returns if it does not arrive in time. */
async function untilCancelled(): Promise<void> {
  const context = Context.current();
  const beat = setInterval(() => context.heartbeat(), FAST_HEARTBEAT_MS);
  try {
    await context.sleep(CANCEL_WAIT_MS);
  } finally {
    clearInterval(beat);
  }
}
