/** A chat turn: its states, its budget, and its messages through Temporal, whose sizes are bounded. */

export type TurnStatus = "open" | AdoptedStatus | "lost";

/** How turns end that a workflow adopts; a turn that was lost has nobody who would report it. */
export type AdoptedStatus = "completed" | "failed" | "cancelled";

/** A tool call as the model made it. `arguments` is JSON text; null: too large to pass Temporal. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string | null;
  /** True if the tool reads only this service's data, as a local activity; others run in a worker. */
  readonly isNear?: boolean;
}

/** Text that stands directly beside a passage in its document: to read the passage by, not to cite. */
export interface PassageContext {
  readonly chunk_id: string;
  readonly side: "before" | "after";
  /** The end of a long chunk before the passage, or the beginning of one after it. */
  readonly text: string;
}

/** A chunk of a document that an answer may cite. */
export interface Passage {
  readonly chunk_id: string;
  readonly document_id: string;
  readonly document_name: string;
  readonly chunk_index: number;
  readonly page: number | null;
  readonly text: string;
  /** Only on its way to the model: a citation has none. */
  readonly context?: readonly PassageContext[];
}

/** UTF-16 code units of the longest quote of a citation. */
export const QUOTE_MAX = 300;

/** The result of a tool call for the model. `invalid`: an unknown tool, or arguments it does not take. */
export type ToolResult =
  /** `documentIds` are the documents that the text is about. */
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
  /** The API process does not have the turn in memory (any more). */
  | { readonly type: "unknown" };

/** The most bytes of one call's arguments: all 16 calls of a step fit the payload limit of 256 KB. */
export const TOOL_ARGUMENTS_MAX_BYTES = 14 * 1024;
export const TOOL_CALLS_MAX_PER_STEP = 16;
/** All results of a step pass to the next model call in one payload. */
const TOOL_RESULTS_MAX_BYTES_PER_STEP = 224 * 1024;
const TOOL_RESULT_MAX_BYTES = 64 * 1024;

/** How many bytes the result of each of `callCount` parallel calls may have. */
export function resultBytesPerCall(callCount: number): number {
  return Math.min(
    TOOL_RESULT_MAX_BYTES,
    Math.floor(TOOL_RESULTS_MAX_BYTES_PER_STEP / Math.max(1, callCount)),
  );
}

/** What a turn may use. When it is used up, a last model call without tools writes the answer. */
export interface TurnBudget {
  readonly modelCalls: number;
  readonly tokens: number;
  readonly seconds: number;
}

export const TURN_BUDGET: TurnBudget = { modelCalls: 8, tokens: 400_000, seconds: 120 };

/** Together with its last call, a turn of this length stays within the time-outs of its activities. */
export const TURN_SECONDS_MAX = 500;

export interface TurnUse {
  readonly modelCalls: number;
  readonly tokens: number;
  readonly seconds: number;
  /** Rounds in which the model made a call that cannot be run. */
  readonly invalidRounds: number;
}

const BAD_ROUNDS_ALLOWED = 1;

/** Why the next model call must be the last, for the answer's reader; null: more tools may be used. */
export function exhaustedBudget(use: TurnUse, budget: TurnBudget): string | null {
  if (use.modelCalls >= budget.modelCalls - 1)
    return `the budget of ${budget.modelCalls} model calls is used up`;
  if (use.tokens >= budget.tokens) return `the budget of ${budget.tokens} tokens is used up`;
  if (use.seconds >= budget.seconds) return `the budget of ${budget.seconds} seconds is used up`;
  if (use.invalidRounds > BAD_ROUNDS_ALLOWED) return "the tool calls were invalid";
  return null;
}
