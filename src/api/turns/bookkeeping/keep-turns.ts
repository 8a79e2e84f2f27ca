/** The only place that keeps turns in Temporal's books, by natural batching: what gathers while starts are in flight shares the next one. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Agent } from "../../../db/turns/agents-in-chat.ts";
import { DomainError } from "../../../domain/errors.ts";
import { newId } from "../../../domain/ids.ts";
import type { ToolCall } from "../../../domain/work/turn.ts";
import type { Log } from "../../../process/log.ts";
import { drillPoint } from "../../../telemetry/drill-point.ts";
import type { ChatStarter } from "../../../temporal/start/chat.ts";
import type { ChatTurnInput } from "../../../domain/work/chat-workflows.ts";
import { createCancelledBooks } from "./keep-cancelled.ts";
import type { Ledger } from "./ledger.ts";
import type { OpenTurns } from "./open-turns.ts";
import type { TemporalHealth } from "./temporal-health.ts";
import type { Turn } from "../turn.ts";

export interface Books {
  /** Takes a turn in; it never waits. A start that fails refuses the turns that have not sent anything yet. */
  enter(turn: Turn): void;
  /** Starts the workflow of a turn that asks for tools. @throws DomainError `workflows_unavailable`. */
  handOver(turn: Turn, calls: readonly ToolCall[]): Promise<void>;
}

interface BooksDeps {
  readonly apiProcessId: string;
  readonly queues: { readonly api: string; readonly tools: string };
  readonly starter: ChatStarter;
  readonly ledger: Ledger;
  readonly openTurns: OpenTurns;
  readonly health: TemporalHealth;
  readonly log: Log;
}

const STARTS_IN_FLIGHT = 2;
/** A turn that may use tools waits this long for a workflow of its own before it joins a group. */
const OWN_BOOKS_WITHIN_MS = 1_000;
const GROUP_MAX = 512;
/** Groups are started this often, or when so many turns have gathered: each costs Temporal far more than many turns in one. */
const STARTS_APART_MS = 500;
const GROUP_ENOUGH = 256;
/** A start leaves the first model call of its turns the way: where the machine is small, both would have the same milliseconds. */
const BEHIND_FIRST_CALL_MS = 20;

export function createBooks(deps: BooksDeps): Books {
  const { queues, starter, ledger, openTurns, health, log } = deps;
  const noteCancelled = createCancelledBooks(async (turn) => {
    await starter.cancel(
      await starter.startTurn(placeOf(turn), { ...inputOf(turn, queues), calls: [], isCancelled: true }),
    );
  }, log);
  const start = async (group: readonly Turn[]): Promise<void> => {
    try {
      await drillPoint("chatTurns: turns noted, workflow not started");
      const workflowId = await starter.startTurns(deps.apiProcessId, newId(), {
        apiQueue: queues.api,
        turnIds: group.map((turn) => turn.row.id),
      });
      await drillPoint("chatTurns: workflow started, answer not seen");
      void cancelWithTurns(workflowId, group);
    } catch (error) {
      health.failed(error);
      log.warn({ err: error, turns: group.length }, "the books of chat turns could not be opened");
      for (const turn of group) withoutBooks(turn);
    }
  };
  /** A turn under way ends by itself; one that has sent nothing yet fails with a status of its own. */
  const withoutBooks = (turn: Turn): void => {
    if (!turn.isCommitted) turn.abort(workflowsUnavailable());
    void turn.result.then(() => openTurns.release(turn.row.id));
  };
  /** A group whose turns were all cancelled ends as cancelled in Temporal too; a turn that shares its books with others falls out of them. */
  const cancelWithTurns = async (workflowId: string, group: readonly Turn[]): Promise<void> => {
    const ends = await Promise.all(
      group.map(async (turn) => {
        const end = await turn.firstPart;
        if (end === "cancelled" && group.length > 1) noteCancelled(turn);
        return end;
      }),
    );
    if (ends.every((end) => end === "cancelled")) await cancel(workflowId, group);
  };
  /** A workflow that is cancelled before its activity began adopts nothing any more. */
  const cancel = async (workflowId: string, turns: readonly Turn[]): Promise<void> => {
    for (const turn of turns) openTurns.release(turn.row.id);
    await starter
      .cancel(workflowId)
      .catch((error: unknown) => log.info({ err: error, workflowId }, "a cancel did not reach Temporal"));
  };
  const gather = gatherTurns(start);

  return {
    enter(turn) {
      ledger.open(turn.row);
      if (!usesTools(turn.agent)) return gather(turn);
      // One that asks for a tool soon is in no group: its own workflow is enough.
      void Promise.race([turn.firstPart, sleep(OWN_BOOKS_WITHIN_MS)]).then((end) =>
        end === "handed_over" || turn.isWaitingForTools ? undefined : gather(turn),
      );
    },
    async handOver(turn, calls) {
      // A workflow of a turn that is in no book is found by nobody once this process died.
      await ledger.noted(turn.row);
      await drillPoint("chatTurn: tools asked for, workflow not started");
      let workflowId: string;
      try {
        workflowId = await starter.startTurn(placeOf(turn), { ...inputOf(turn, queues), calls });
      } catch (error) {
        health.failed(error);
        // It may be in no group, and then nothing adopts it.
        void turn.result.then(() => openTurns.release(turn.row.id));
        throw workflowsUnavailable(error);
      }
      // Waits for the turn's end, which may be there already: an abort before the start had resolved.
      void turn.result.then((result) =>
        result.status === "completed" ? undefined : cancel(workflowId, [turn]),
      );
    },
  };
}

/** Natural batching: turns that come while starts are in flight go with the next one. `start` never rejects. */
function gatherTurns(start: (group: readonly Turn[]) => Promise<void>): (turn: Turn) => void {
  const waiting: Turn[] = [];
  let inFlight = 0;
  let lastStartMs = -STARTS_APART_MS;
  let waitingSinceMs = 0;
  let pause: NodeJS.Timeout | undefined;
  const kick = (): void => {
    while (pause === undefined && inFlight < STARTS_IN_FLIGHT && waiting.length > 0) {
      const startMs = Math.max(lastStartMs + STARTS_APART_MS, waitingSinceMs + BEHIND_FIRST_CALL_MS);
      const waitMs = waiting.length >= GROUP_ENOUGH ? 0 : startMs - performance.now();
      if (waitMs > 0) return kickIn(waitMs);
      lastStartMs = performance.now();
      inFlight += 1;
      void start(waiting.splice(0, GROUP_MAX)).finally(() => {
        inFlight -= 1;
        kick();
      });
    }
  };
  const kickIn = (waitMs: number): void => {
    pause = setTimeout(() => {
      pause = undefined;
      kick();
    }, waitMs);
  };
  return (turn) => {
    if (waiting.push(turn) === 1) waitingSinceMs = performance.now();
    if (waiting.length >= GROUP_ENOUGH) {
      clearTimeout(pause);
      pause = undefined;
    }
    kick();
  };
}

/** A `rag` agent searches first and uses none. */
function usesTools({ agent_type, tool_attachments }: Agent): boolean {
  return agent_type !== "rag" && tool_attachments.length > 0;
}

function placeOf({ row }: Turn): { agentId: string; spaceId: string } {
  return { agentId: row.agent_id, spaceId: row.space_id };
}

function inputOf({ row, principal }: Turn, queues: BooksDeps["queues"]): Omit<ChatTurnInput, "calls"> {
  const { id, num } = principal.organization;
  const caller = {
    organization: { id, num },
    agentId: row.agent_id,
    userId: row.user_id,
    apiKeyId: row.api_key_id,
  };
  return { apiQueue: queues.api, toolQueue: queues.tools, turnId: row.id, caller };
}

export function workflowsUnavailable(cause?: unknown): DomainError {
  return new DomainError("workflows_unavailable", "The workflow service is not reachable.", {
    retryAfterSeconds: 2,
    cause,
  });
}
