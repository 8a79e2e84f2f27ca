/** The workflow of a turn with tools: runs them in parallel, calls the model again, until it answers. */
import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  TimeoutFailure,
  isCancellation,
  sleep,
} from "@temporalio/workflow";
import type { ChatTurnInput } from "../domain/work/chat-workflows.ts";
import { type StepResult, type ToolCall, type ToolResult, resultBytesPerCall } from "../domain/work/turn.ts";
import { apiProcess, local, toolRunners } from "./chat-proxies.ts";

/** Far above the steps that the API process allows a turn; it stops a loop that only a bug could cause. */
const STEPS_MAX = 32;
/** How long to wait for Temporal's cancel request, already on its way; else the workflow completes. */
const CANCEL_WAIT = "5 seconds";

/** @see test/workflows/chat/chat-turn.stack.test.ts */
export async function chatTurn(input: ChatTurnInput): Promise<{ status: string; steps: number }> {
  if (input.isCancelled === true) return { status: await cancelled(), steps: 0 };
  let calls = input.calls;
  for (let steps = 1; steps <= STEPS_MAX; steps += 1) {
    const results = await Promise.all(
      calls.map((call) => runTool(input, call, resultBytesPerCall(calls.length))),
    );
    const step = await callModel(input, steps, results);
    if (step.type !== "tools") return { status: await endOf(step), steps };
    calls = step.calls;
  }
  throw ApplicationFailure.nonRetryable("The turn did not end within its steps.", "internal");
}

/** Calls the model in the API process that has the turn in memory, wherever this workflow runs. */
async function callModel(
  { apiQueue, turnId }: ChatTurnInput,
  no: number,
  results: readonly ToolResult[],
): Promise<StepResult> {
  const step = await local.callModel({ turnId, no, results });
  return step.type === "unknown" ? apiProcess(apiQueue).callModel({ turnId, no, results }) : step;
}

/** A failed tool becomes a result that the model reads; it never ends the turn. */
async function runTool(
  { toolQueue, turnId, caller }: ChatTurnInput,
  call: ToolCall,
  maxBytes: number,
): Promise<ToolResult> {
  const run = { turnId, caller, call, maxBytes };
  try {
    const ownResult = call.isNear === true ? await local.runTool(run).catch(unlessHopeless) : undefined;
    return ownResult ?? (await toolRunners(toolQueue).runTool(run));
  } catch (error) {
    if (isCancellation(error)) throw error;
    return { id: call.id, type: "error", text: reasonOf(error) };
  }
}

/** Returns if another attempt may help: the tool runs again by its queue. @throws the error if not. */
function unlessHopeless(error: unknown): undefined {
  const cause = error instanceof ActivityFailure ? error.cause : undefined;
  if (isCancellation(error) || (cause instanceof ApplicationFailure && cause.nonRetryable === true))
    throw error;
}

function reasonOf(error: unknown): string {
  const cause = error instanceof ActivityFailure ? error.cause : undefined;
  if (cause instanceof TimeoutFailure) return "The tool did not answer in time.";
  if (cause instanceof ApplicationFailure && cause.type !== "internal") return cause.message;
  return "The tool failed.";
}

async function endOf(step: Exclude<StepResult, { type: "tools" }>): Promise<string> {
  if (step.type === "unknown")
    throw ApplicationFailure.nonRetryable("The API process does not know the turn any more.", "turn_lost");
  return step.status === "cancelled" ? cancelled() : step.status;
}

/** @throws CancelledFailure once Temporal was asked to cancel; nothing else ends a workflow as cancelled. */
async function cancelled(): Promise<"cancelled"> {
  await Promise.race([CancellationScope.current().cancelRequested, sleep(CANCEL_WAIT)]);
  return "cancelled";
}
