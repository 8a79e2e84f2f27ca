/** What a chat turn is: a question to an agent and all the answer takes, in one API process's memory. */
import type { SamplingOptions } from "../../agents/model-request.ts";
import type { ProvenCitation, ProvenMark } from "../../agents/quotes/evidence.ts";
import type { SecondLook } from "../../agents/quotes/second-look.ts";
import type { Toolbox } from "../../agents/tools/index.ts";
import type { ClientMessage } from "../../agents/turn.ts";
import type { Usage } from "../../agents/usage.ts";
import type { Agent } from "../../db/turns/agents-in-chat.ts";
import type { TurnRow } from "../../db/turns/ledger.ts";
import type { DomainError } from "../../domain/errors.ts";
import type { ReceiptSigner } from "../../domain/receipts/statement.ts";
import type { Principal } from "../../domain/tenancy/principal.ts";
import type { StepResult, ToolCall, ToolResult, TurnBudget } from "../../domain/work/turn.ts";
import type { ChatModel } from "../../models/chat/chat-model.ts";
import type { Log } from "../../process/log.ts";
import type { SearchDeps } from "../../search/hybrid.ts";
import type { Ledger } from "./bookkeeping/ledger.ts";
import type { ResponseAsk, SearchProgress } from "./response-ask.ts";

export interface TurnRequest {
  /** A UUID of version 7. Default: a new one. */
  readonly id?: string;
  readonly principal: Principal;
  readonly agent: Agent;
  readonly messages: readonly ClientMessage[];
  readonly options: SamplingOptions;
  /** Set for a response: what it asks beyond what chat does. */
  readonly ask?: ResponseAsk | undefined;
}

/** A tool that a turn uses, and how far it is. */
export interface ToolProgress {
  /** The call, by which `running` and its end belong together. */
  readonly id: string;
  readonly name: string;
  readonly status: "running" | "done" | "failed";
}

/** Takes an answer piece by piece. */
export interface AnswerSink {
  /** True once the caller has been sent anything: a failure can no longer have a status of its own. */
  readonly isCommitted: boolean;
  /** The model has begun to answer, or to ask for tools. Called for each of its events. */
  readonly begun: () => void;
  /** The provider is down: the model is asked again after a while, unless `begun` follows. */
  readonly waits?: (outage: DomainError) => void;
  /** Called before the model is shown these documents or their names. */
  readonly shown?: (documentIds: readonly string[]) => void;
  /** Tools begin, or have ended. What they were asked and what they found is not said. */
  readonly tools?: (progress: readonly ToolProgress[]) => void;
  /** A search of stores begins, or has ended. */
  readonly search?: (progress: SearchProgress) => void;
  /** Returns a promise if the reader is slow; the next piece waits for it. */
  content(text: string): Promise<void> | undefined;
}

export interface Completed {
  readonly status: "completed";
  readonly finishReason: string;
  readonly usage: Usage;
  readonly citations: readonly ProvenCitation[];
  readonly marks: readonly ProvenMark[];
  /** Sources that were taken out of marks for want of support; absent where the agent does not ask for it. */
  readonly removedCitations?: number;
  /** Calls of the client's functions, with which a response may end. */
  readonly functionCalls?: readonly ToolCall[];
}

export type TurnResult =
  | Completed
  | { readonly status: "failed"; readonly error: DomainError }
  | { readonly status: "cancelled" };

export type TurnEndStatus = TurnResult["status"];

export interface Turn {
  readonly row: TurnRow;
  readonly agent: Agent;
  readonly principal: Principal;
  readonly isCommitted: boolean;
  readonly isWaitingForTools: boolean;
  /** How many messages of the history did not fit the model's context; known from the first piece on. */
  readonly droppedMessages: number;
  /** Undefined while the turn runs. */
  readonly status: TurnEndStatus | undefined;
  /** Settles when the turn has ended; never rejects. */
  readonly result: Promise<TurnResult>;
  /** Settles when the turn has ended, or continues in a workflow of its own; never rejects. */
  readonly firstPart: Promise<TurnEndStatus | "handed_over">;
  /** Aborted if the turn is aborted, not if it ends otherwise. */
  readonly aborted: AbortSignal;
  /**
   * Makes model call `no`, counted from 1 after the first tools. Idempotent: asked again with the same `no`,
   * it is the same call. Resolves at once if the turn has ended.
   */
  step(no: number, results: readonly ToolResult[]): Promise<StepResult>;
  /** Ends the turn at once: as failed for `reason`, or as cancelled without one. */
  abort(reason?: DomainError): void;
}

export interface TurnDeps {
  readonly apiProcessId: string;
  readonly model: ChatModel;
  readonly search: SearchDeps;
  readonly toolbox: Toolbox;
  /** How many tokens the model takes, question and answer together. */
  readonly contextTokens: number;
  readonly budget: TurnBudget;
  readonly ledger: Ledger;
  readonly log: Log;
  readonly receipts: ReceiptSigner;
  /** Undefined: words alone choose what is quoted. */
  readonly secondLook?: SecondLook | undefined;
  /** False while Temporal is away, so that a turn which asks for a tool will fail. */
  readonly canUseTools: () => boolean;
  /** Starts the workflow of a turn that asks for tools. */
  readonly handOver: (turn: Turn, calls: readonly ToolCall[]) => Promise<void>;
}
