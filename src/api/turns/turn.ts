/** The only place that runs a chat turn in the memory of its API process: its messages are here and at the provider, nowhere else. */
import type { SamplingOptions } from "../../agents/model-request.ts";
import type { Citation } from "../../agents/sources.ts";
import { type ClientMessage, startsConversation } from "../../agents/turn.ts";
import type { Usage } from "../../agents/usage.ts";
import type { Agent } from "../../db/turns/agents-in-chat.ts";
import type { TurnRow } from "../../db/turns/ledger.ts";
import { DomainError } from "../../domain/errors.ts";
import { newId } from "../../domain/ids.ts";
import type { Principal } from "../../domain/tenancy/principal.ts";
import type { StepResult, ToolCall, ToolResult, TurnBudget } from "../../domain/work/turn.ts";
import type { Log } from "../../process/log.ts";
import type { ChatModel } from "../../models/chat/chat-model.ts";
import type { Toolbox } from "../../agents/tools/index.ts";
import type { SearchDeps } from "../../search/hybrid.ts";
import { chatTurns } from "../../telemetry/instruments.ts";
import type { Ledger } from "./bookkeeping/ledger.ts";
import { type LoopStep, type TurnLoop, createLoop } from "./turn-loop.ts";

export interface TurnRequest {
  /** A UUID of version 7; a new one where it is left out. */
  readonly id?: string;
  readonly principal: Principal;
  readonly agent: Agent;
  readonly messages: readonly ClientMessage[];
  readonly options: SamplingOptions;
}

/** Where an answer goes, piece by piece. */
export interface AnswerSink {
  /** True once the caller has been sent anything: a failure can no longer have a status of its own. */
  readonly isCommitted: boolean;
  /** The model has begun to answer, or to ask for tools. Called once for each of its events. */
  readonly begun: () => void;
  /** The model is about to be shown these documents, or their names. */
  readonly shown?: (documentIds: readonly string[]) => void;
  /** A promise where the reader is slow. */
  content(text: string): Promise<void> | undefined;
}

export interface Completed {
  readonly status: "completed";
  readonly finishReason: string;
  readonly usage: Usage;
  readonly citations: readonly Citation[];
}

export type TurnResult =
  | Completed
  | { readonly status: "failed"; readonly error: DomainError }
  | { readonly status: "cancelled" };
type EndStatus = TurnResult["status"];

export interface Turn {
  readonly row: TurnRow;
  readonly agent: Agent;
  readonly principal: Principal;
  readonly isCommitted: boolean;
  readonly isWaitingForTools: boolean;
  /** Messages of the history that did not fit the model's context; known from the first piece on. */
  readonly droppedMessages: number;
  /** Undefined while the turn runs. */
  readonly status: EndStatus | undefined;
  /** Settles when the turn has ended; never rejects. */
  readonly result: Promise<TurnResult>;
  /** Settles when the turn has ended, or has gone on to a workflow of its own; never rejects. */
  readonly firstPart: Promise<EndStatus | "handed_over">;
  /** Aborted when the turn is, not when it ends otherwise. */
  readonly aborted: AbortSignal;
  /** Makes model call `no`, counted from 1 after the first tools; the same once more is the same call. Answers at once where the turn has ended. */
  step(no: number, results: readonly ToolResult[]): Promise<StepResult>;
  /** Ends the turn at once: as cancelled, or failed for `reason`. */
  abort(reason?: DomainError): void;
}

export interface TurnDeps {
  readonly apiProcessId: string;
  readonly model: ChatModel;
  readonly search: SearchDeps;
  readonly toolbox: Toolbox;
  /** Of the model, for question and answer together. */
  readonly contextTokens: number;
  readonly budget: TurnBudget;
  readonly ledger: Ledger;
  readonly log: Log;
  /** Starts the workflow of a turn that asks for tools. */
  readonly handOver: (turn: Turn, calls: readonly ToolCall[]) => Promise<void>;
}

/** What is left for the last call when the budget's seconds are used up. */
const LAST_CALL_SECONDS = 360;

/** Begins the turn: its search or its first model call is under way when this returns. */
export function startTurn(deps: TurnDeps, request: TurnRequest, sink: AnswerSink): Turn {
  const row = rowOf(deps.apiProcessId, request);
  const abort = new AbortController();
  const result = Promise.withResolvers<TurnResult>();
  let held: Held = { loop: createLoop({ turnId: row.id, deps, request, sink, signal: abort.signal }), sink };
  const deadline = setTimeout(
    () => turn.abort(tookTooLong()),
    (deps.budget.seconds + LAST_CALL_SECONDS) * 1_000,
  );
  let [status, isWaitingForTools]: [EndStatus | undefined, boolean] = [undefined, false];
  let lastStep: { readonly no: number; readonly result: Promise<StepResult> } | undefined;

  const end = (how: TurnResult): EndStatus => {
    if (status !== undefined) return status;
    status = how.status;
    clearTimeout(deadline);
    held = letGo(held);
    chatTurns.observe({ status }, (Date.now() - row.started_at.getTime()) / 1_000);
    deps.ledger.end({
      ...row,
      status,
      error_code: how.status === "failed" ? how.error.code : null,
      ended_at: new Date(),
    });
    result.resolve(how);
    return status;
  };
  /** What an aborted call throws comes after the end, and changes nothing. */
  const fail = (error: unknown): EndStatus =>
    status ?? end({ status: "failed", error: asDomainError(error, deps.log) });
  const part = async (next: () => Promise<LoopStep>): Promise<StepResult> => {
    try {
      isWaitingForTools = false;
      const step = await next();
      isWaitingForTools = step.type === "tools";
      if (status === undefined && step.type === "tools") return step;
      return { type: "ended", status: step.type === "tools" ? (status ?? "cancelled") : end(step.result) };
    } catch (error) {
      return { type: "ended", status: fail(error) };
    }
  };
  const runFirstPart = async (): Promise<EndStatus | "handed_over"> => {
    const step = await part(() => held.loop.begin());
    if (step.type !== "tools") return step.type === "ended" ? step.status : "failed";
    try {
      await deps.handOver(turn, step.calls);
      return "handed_over";
    } catch (error) {
      return fail(error);
    }
  };
  const turn: Turn = {
    row,
    agent: request.agent,
    principal: request.principal,
    get isCommitted() {
      return held.sink.isCommitted;
    },
    get isWaitingForTools() {
      return isWaitingForTools;
    },
    get status() {
      return status;
    },
    get droppedMessages() {
      return held.loop.droppedMessages();
    },
    result: result.promise,
    firstPart: runFirstPart(),
    aborted: abort.signal,
    step(no, results) {
      if (lastStep?.no !== no)
        lastStep = {
          no,
          result:
            status === undefined
              ? part(() => held.loop.goOn(results))
              : Promise.resolve({ type: "ended", status }),
        };
      return lastStep.result;
    },
    abort(reason) {
      end(reason === undefined ? { status: "cancelled" } : { status: "failed", error: reason });
      abort.abort(reason);
    },
  };
  return turn;
}

interface Held {
  readonly loop: TurnLoop;
  readonly sink: Pick<AnswerSink, "isCommitted">;
}

/**
 * What is still told of a turn that has ended. It waits for its books for up to half a second: with its messages, its request and its
 * answer, hundreds of them would be what each collection of the young heap has to copy.
 */
function letGo({ loop, sink }: Held): Held {
  const [droppedMessages, isCommitted] = [loop.droppedMessages(), sink.isCommitted];
  return {
    loop: { begin: hasEnded, goOn: hasEnded, droppedMessages: () => droppedMessages },
    sink: { isCommitted },
  };
}

function tookTooLong(): DomainError {
  return new DomainError("provider_timeout", "The turn took too long.");
}

async function hasEnded(): Promise<never> {
  throw new DomainError("cancelled", "The turn has ended.");
}

function rowOf(apiProcessId: string, { id = newId(), principal, agent, messages }: TurnRequest): TurnRow {
  return {
    id,
    organization_id: principal.organization.id,
    space_id: agent.space_id,
    agent_id: agent.id,
    user_id: principal.user.id,
    api_key_id: principal.apiKeyId,
    api_process_id: apiProcessId,
    starts_conversation: startsConversation(messages),
    started_at: new Date(),
  };
}

/** Unexpected errors are logged here, since the caller is told nothing of them. */
function asDomainError(error: unknown, log: Log): DomainError {
  if (error instanceof DomainError) return error;
  log.error({ err: error }, "a chat turn failed");
  return new DomainError("internal", "Internal Server Error", { cause: error });
}
