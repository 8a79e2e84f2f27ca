/** The inputs of the workflows of chat turns. */
import type { ToolCall } from "./turn.ts";

/** On whose behalf a tool runs. Its rights are looked up for every call. */
export interface ToolCaller {
  readonly organization: { readonly id: string; readonly num: number };
  readonly agentId: string;
  readonly userId: string;
  readonly apiKeyId: string | null;
}

export interface ChatTurnInput {
  readonly apiQueue: string;
  readonly toolQueue: string;
  readonly turnId: string;
  readonly caller: ToolCaller;
  /** What the first model call asked for. */
  readonly calls: readonly ToolCall[];
  /** True if the turn was cancelled while its group went on: its workflow only ends as cancelled. */
  readonly isCancelled?: boolean;
}

export interface ChatTurnsInput {
  /** The task queue of the API process that has the turns in memory. */
  readonly apiQueue: string;
  readonly turnIds: readonly string[];
}
