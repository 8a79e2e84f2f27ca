/** The activities of an API process's own queue: they adopt turns that are under way in its memory. */
import { setTimeout as sleep } from "node:timers/promises";
import { CancelledFailure, Context } from "@temporalio/activity";
import type { StepResult, ToolResult } from "../domain/work/turn.ts";
import { drillPoint } from "../telemetry/drill-point.ts";
import { asActivityFailure } from "./failure.ts";
import { withHeartbeat } from "./heartbeat.ts";

/** Ends of a group's turns by state; `handed_over` ones went on in a workflow of their own. */
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
  /** From 1, after the first tools. */
  readonly no: number;
  readonly results: readonly ToolResult[];
}

/** The turns that this process holds, as its activities see them. */
export interface HeldTurns {
  /** Waits for the part of the turn that runs without a workflow of its own, then lets go of it. `unknown` at once for others. */
  adopt(turnId: string): Promise<AdoptedEnd>;
  /** Makes model call `no` of a turn with the results of its tools; asked once more, it is the same call. */
  step(turnId: string, no: number, results: readonly ToolResult[]): Promise<StepResult>;
  /** Aborted when the turn is; undefined for turns of other processes. */
  abortedSignal(turnId: string): AbortSignal | undefined;
}

export interface ChatActivities {
  adoptTurns(turnIds: readonly string[]): Promise<AdoptedTurns>;
  callModel(input: CallModelInput): Promise<StepResult>;
}

/** For processes that hold no turns, and run the workflows of those that died. */
export const NO_TURNS: HeldTurns = {
  adopt: async () => "unknown",
  step: async () => ({ type: "unknown" }),
  abortedSignal: () => undefined,
};

const HEARTBEAT_MS = 1_000;
/** Groups stay open for as long as their longest answer, hundreds at once, and each heartbeat is a write in Temporal. */
const ADOPTION_HEARTBEAT_MS = 3_000;
const FAST_HEARTBEAT_MS = 250;
/** Closing the books leaves the request the way that follows on an answer. */
const BEHIND_ANSWER_MS = 20;
/** How long a group whose turns were all cancelled waits for Temporal's word of it, so that it ends as cancelled there too. */
const CANCEL_WAIT_MS = 3_000;

export function createChatActivities(turns: HeldTurns): ChatActivities {
  return {
    adoptTurns: (turnIds) =>
      told(ADOPTION_HEARTBEAT_MS, async () => {
        const ends = await Promise.all(turnIds.map((turnId) => turns.adopt(turnId)));
        await drillPoint("chatTurns: turns ended, workflow not told");
        const counts = { completed: 0, failed: 0, cancelled: 0, handed_over: 0, unknown: 0 };
        for (const end of ends) counts[end] += 1;
        // Turns that were cancelled are let go of at once: they may be unknown by now.
        if (counts.cancelled + counts.unknown === turnIds.length) await untilCancelled();
        else await sleep(BEHIND_ANSWER_MS);
        return counts;
      }),
    callModel: (input) =>
      told(HEARTBEAT_MS, async () => {
        const step = await turns.step(input.turnId, input.no, input.results);
        await drillPoint("chatTurn: model answered, workflow not told");
        // Beside its workflow it hears of no cancel; the workflow waits for it then.
        if (step.type === "ended" && step.status === "cancelled" && !Context.current().info.isLocal)
          await untilCancelled();
        return step;
      }),
  };
}

async function told<T>(heartbeatMs: number, work: () => Promise<T>): Promise<T> {
  try {
    return await withHeartbeat(work, heartbeatMs);
  } catch (error) {
    throw error instanceof CancelledFailure ? error : asActivityFailure(error);
  }
}

/** Throws where the server says that the workflow was cancelled, and returns where it does not say so in time. */
async function untilCancelled(): Promise<void> {
  const context = Context.current();
  const beat = setInterval(() => context.heartbeat(), FAST_HEARTBEAT_MS);
  try {
    await context.sleep(CANCEL_WAIT_MS);
  } finally {
    clearInterval(beat);
  }
}
