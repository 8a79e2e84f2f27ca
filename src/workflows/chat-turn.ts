/** The workflow of one turn that runs tools: tools side by side, then the next model call, until the model answers. */
import { ActivityFailure, ApplicationFailure, CancellationScope, TimeoutFailure, isCancellation, sleep } from "@temporalio/workflow";
import type { ToolCaller } from "../activities/tools.ts";
import { type StepResult, type ToolCall, type ToolResult, resultBytesPerCall } from "../domain/turn.ts";
import { apiProcess, toolRunners } from "./chat-proxies.ts";

export interface ChatTurnInput {
  readonly apiQueue: string;
  readonly toolQueue: string;
  readonly turnId: string;
  readonly caller: ToolCaller;
  /** What the first model call asked for. */
  readonly calls: readonly ToolCall[];
}

/** Far above the budget that the API process keeps: only stops a loop that should not exist. */
const STEPS_MAX = 32;
/** A cancel that the caller asked for is on its way; without it the turn ends as it is. */
const CANCEL_WAIT = "5 seconds";

export async function chatTurn(input: ChatTurnInput): Promise<{ status: string; steps: number }> {
  const { callModel } = apiProcess(input.apiQueue);
  let calls = input.calls;
  for (let steps = 1; steps <= STEPS_MAX; steps += 1) {
    const results = await Promise.all(calls.map((call) => runTool(input, call, resultBytesPerCall(calls.length))));
    const step = await callModel({ turnId: input.turnId, results });
    if (step.type !== "tools") return { status: await endOf(step), steps };
    calls = step.calls;
  }
  throw ApplicationFailure.nonRetryable("The turn did not end within its steps.", "internal");
}

/** A tool that fails is told to the model; it never ends the turn. */
async function runTool(input: ChatTurnInput, call: ToolCall, maxBytes: number): Promise<ToolResult> {
  try {
    return await toolRunners(input.toolQueue).runTool({ caller: input.caller, call, maxBytes });
  } catch (error) {
    if (isCancellation(error)) throw error;
    return { id: call.id, type: "error", text: reasonOf(error) };
  }
}

function reasonOf(error: unknown): string {
  const cause = error instanceof ActivityFailure ? error.cause : undefined;
  if (cause instanceof TimeoutFailure) return "The tool did not answer in time.";
  if (cause instanceof ApplicationFailure && cause.type !== "internal") return cause.message;
  return "The tool failed.";
}

async function endOf(step: Exclude<StepResult, { type: "tools" }>): Promise<string> {
  if (step.type === "unknown") throw ApplicationFailure.nonRetryable("The API process does not know the turn any more.", "turn_lost");
  if (step.status === "cancelled") await Promise.race([CancellationScope.current().cancelRequested, sleep(CANCEL_WAIT)]);
  return step.status;
}
