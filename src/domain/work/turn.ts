/** What a chat turn is to all who handle it: its states, its budget, and the bounded messages that pass through Temporal. */

export type TurnStatus = "open" | "completed" | "failed" | "cancelled" | "lost";

/** A call of a tool as the model asked for it. `arguments` is JSON text; null where it was too large to be carried. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string | null;
  /** The tool asks this service's own data alone, so that it runs beside its workflow; others run in a worker. */
  readonly isNear?: boolean;
}

/** A piece of a document that an answer may cite. */
export interface Passage {
  readonly chunk_id: string;
  readonly document_id: string;
  readonly document_name: string;
  readonly chunk_index: number;
  readonly page: number | null;
  readonly text: string;
}

/**
 * What came of one call of a tool, as the model will be told.
 * `invalid` is a call that cannot be run as it is: an unknown tool, or arguments that are not what the tool takes.
 */
export type ToolResult =
  /** `documentIds` names the documents that the text speaks of. */
  | {
      readonly id: string;
      readonly type: "text";
      readonly text: string;
      readonly documentIds?: readonly string[];
    }
  | { readonly id: string; readonly type: "passages"; readonly passages: readonly Passage[] }
  | { readonly id: string; readonly type: "error"; readonly text: string }
  | { readonly id: string; readonly type: "invalid"; readonly text: string };

/** How a model call of a turn ended, as its workflow sees it. */
export type StepResult =
  | { readonly type: "tools"; readonly calls: readonly ToolCall[] }
  | { readonly type: "ended"; readonly status: "completed" | "failed" | "cancelled" }
  /** The API process does not know the turn (any more). */
  | { readonly type: "unknown" };

/** Arguments of one call, in bytes; the 16 of a step stay below the payload limit of 256 KB. */
export const TOOL_ARGUMENTS_MAX_BYTES = 14 * 1024;
export const TOOL_CALLS_MAX_PER_STEP = 16;
/** All results of one step go to the next model call in one payload. */
const TOOL_RESULTS_MAX_BYTES_PER_STEP = 224 * 1024;
const TOOL_RESULT_MAX_BYTES = 64 * 1024;

/** The share of a step's result bytes that each of `callCount` parallel calls gets. */
export function resultBytesPerCall(callCount: number): number {
  return Math.min(
    TOOL_RESULT_MAX_BYTES,
    Math.floor(TOOL_RESULTS_MAX_BYTES_PER_STEP / Math.max(1, callCount)),
  );
}

/** What one turn may use; when it is used up, one last call without tools writes the answer. */
export interface TurnBudget {
  readonly modelCalls: number;
  readonly tokens: number;
  readonly seconds: number;
}

export const TURN_BUDGET: TurnBudget = { modelCalls: 8, tokens: 400_000, seconds: 120 };

/** With its last call a turn stays below the time that its activities have. */
export const TURN_SECONDS_MAX = 500;

export interface TurnUse {
  readonly modelCalls: number;
  readonly tokens: number;
  readonly seconds: number;
  /** Rounds in which the model asked for something that cannot be run. */
  readonly invalidRounds: number;
}

const BAD_ROUNDS_ALLOWED = 1;

/** Why the next model call has to be the last one, in words for the reader of the answer; null where tools may go on. */
export function exhaustedBudget(use: TurnUse, budget: TurnBudget): string | null {
  if (use.modelCalls >= budget.modelCalls - 1)
    return `the budget of ${budget.modelCalls} model calls is used up`;
  if (use.tokens >= budget.tokens) return `the budget of ${budget.tokens} tokens is used up`;
  if (use.seconds >= budget.seconds) return `the budget of ${budget.seconds} seconds is used up`;
  if (use.invalidRounds > BAD_ROUNDS_ALLOWED) return "the tools were called in a way that cannot be run";
  return null;
}
