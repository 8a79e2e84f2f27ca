/** Runs a chat turn in its API process's memory: its messages are there and at the provider only. */
import { startsConversation } from "../../agents/turn.ts";
import type { Agent } from "../../db/turns/agents-in-chat.ts";
import type { TurnRow } from "../../db/turns/ledger.ts";
import { DomainError } from "../../domain/errors.ts";
import { newId } from "../../domain/ids.ts";
import type { Principal } from "../../domain/tenancy/principal.ts";
import type { StepResult, ToolResult } from "../../domain/work/turn.ts";
import type { Log } from "../../process/log.ts";
import { chatTurns } from "../../telemetry/instruments.ts";
import { type LoopStep, type TurnLoop, createLoop } from "./turn-loop.ts";
import type { AnswerSink, Turn, TurnDeps, TurnEndStatus, TurnRequest, TurnResult } from "./turn.ts";

/** Seconds that the last model call may take after the budget's seconds are used up. */
const LAST_CALL_SECONDS = 360;

/** Begins the turn: its search or its first model call is under way when this returns. */
export function startTurn(deps: TurnDeps, request: TurnRequest, sink: AnswerSink): Turn {
  return new RunningTurn(deps, request, sink);
}

/** What a turn uses while it runs. */
interface Live {
  readonly loop: TurnLoop;
  readonly sink: Pick<AnswerSink, "isCommitted">;
}

class RunningTurn implements Turn {
  readonly row: TurnRow;
  readonly agent: Agent;
  readonly principal: Principal;
  readonly result: Promise<TurnResult>;
  readonly firstPart: Promise<TurnEndStatus | "handed_over">;
  readonly aborted: AbortSignal;
  readonly #deps: TurnDeps;
  readonly #abort = new AbortController();
  readonly #ended = Promise.withResolvers<TurnResult>();
  readonly #deadline: NodeJS.Timeout;
  #live: Live;
  #status: TurnEndStatus | undefined;
  #isWaitingForTools = false;
  #lastStep: { readonly no: number; readonly result: Promise<StepResult> } | undefined;

  constructor(deps: TurnDeps, request: TurnRequest, sink: AnswerSink) {
    this.#deps = deps;
    this.row = rowOf(deps.apiProcessId, request);
    this.agent = request.agent;
    this.principal = request.principal;
    this.result = this.#ended.promise;
    this.aborted = this.#abort.signal;
    const loop = createLoop({ turnId: this.row.id, deps, request, sink, signal: this.aborted });
    this.#live = { loop, sink };
    const longestMs = (deps.budget.seconds + LAST_CALL_SECONDS) * 1_000;
    this.#deadline = setTimeout(() => this.abort(tookTooLong()), longestMs);
    this.firstPart = this.#runFirstPart();
  }

  get isCommitted(): boolean {
    return this.#live.sink.isCommitted;
  }

  get isWaitingForTools(): boolean {
    return this.#isWaitingForTools;
  }

  get status(): TurnEndStatus | undefined {
    return this.#status;
  }

  get droppedMessages(): number {
    return this.#live.loop.droppedMessages;
  }

  step(no: number, results: readonly ToolResult[]): Promise<StepResult> {
    if (this.#lastStep?.no !== no) this.#lastStep = { no, result: this.#newStep(results) };
    return this.#lastStep.result;
  }

  abort(reason?: DomainError): void {
    this.#end(reason === undefined ? { status: "cancelled" } : { status: "failed", error: reason });
    this.#abort.abort(reason);
  }

  async #runFirstPart(): Promise<TurnEndStatus | "handed_over"> {
    const step = await this.#run(() => this.#live.loop.begin());
    if (step.type !== "tools") return step.type === "ended" ? step.status : "failed";
    try {
      await this.#deps.handOver(this, step.calls);
      return "handed_over";
    } catch (error) {
      return this.#fail(error);
    }
  }

  async #newStep(results: readonly ToolResult[]): Promise<StepResult> {
    if (this.#status !== undefined) return { type: "ended", status: this.#status };
    return this.#run(() => this.#live.loop.goOn(results));
  }

  /** Runs a part of the loop, until the model asks for tools or the turn has ended. */
  async #run(part: () => Promise<LoopStep>): Promise<StepResult> {
    try {
      this.#isWaitingForTools = false;
      const step = await part();
      this.#isWaitingForTools = step.type === "tools";
      if (step.type === "answered") return { type: "ended", status: this.#end(step.result) };
      return this.#status === undefined ? step : { type: "ended", status: this.#status };
    } catch (error) {
      return { type: "ended", status: this.#fail(error) };
    }
  }

  /** A turn that was aborted stays as it ended, whatever its interrupted calls throw afterwards. */
  #fail(error: unknown): TurnEndStatus {
    return this.#status ?? this.#end({ status: "failed", error: asDomainError(error, this.#deps.log) });
  }

  /** The first end counts. @returns the status that the turn ended with. */
  #end(result: TurnResult): TurnEndStatus {
    if (this.#status !== undefined) return this.#status;
    this.#status = result.status;
    clearTimeout(this.#deadline);
    this.#live = remainderOf(this.#live);
    chatTurns.observe({ status: result.status }, (Date.now() - this.row.started_at.getTime()) / 1_000);
    this.#deps.ledger.end({
      ...this.row,
      status: result.status,
      error_code: result.status === "failed" ? result.error.code : null,
      ended_at: new Date(),
    });
    this.#ended.resolve(result);
    return result.status;
  }
}

/**
 * What can still be asked of a turn that has ended, without its messages, its request and its answer. Turns
 * wait up to half a second for their bookkeeping workflow, and each collection of the young heap would copy
 * all of that for hundreds of them.
 */
function remainderOf({ loop, sink }: Live): Live {
  return {
    loop: { begin: hasEnded, goOn: hasEnded, droppedMessages: loop.droppedMessages },
    sink: { isCommitted: sink.isCommitted },
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
    space_id: agent.isModel ? null : agent.space_id,
    agent_id: agent.isModel ? null : agent.id,
    user_id: principal.user.id,
    api_key_id: principal.apiKeyId,
    api_process_id: apiProcessId,
    starts_conversation: startsConversation(messages),
    started_at: new Date(),
  };
}

/** Logs an unexpected error here, because the answer says nothing about it. */
function asDomainError(error: unknown, log: Log): DomainError {
  if (error instanceof DomainError) return error;
  log.error({ err: error }, "a chat turn failed");
  return new DomainError("internal", "Internal Server Error", { cause: error });
}
