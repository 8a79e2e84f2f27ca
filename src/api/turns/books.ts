/** The only place that keeps turns in Temporal's books, by natural batching: what gathers while starts are in flight shares the next one. */
import { DomainError } from "../../domain/errors.ts";
import { newId } from "../../domain/ids.ts";
import type { ToolCall } from "../../domain/turn.ts";
import type { Log } from "../../log.ts";
import type { ChatStarter } from "../../temporal/start-chat.ts";
import type { Ledger } from "./ledger.ts";
import type { OpenTurns } from "./open-turns.ts";
import type { TemporalHealth } from "./temporal-health.ts";
import type { Turn } from "./turn.ts";

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
const GROUP_MAX = 256;
/** A busy process starts a workflow this often at most: each costs Temporal more than many turns in one. */
const STARTS_APART_MS = 100;

export function createBooks(deps: BooksDeps): Books {
  const { queues, starter, ledger, openTurns, health, log } = deps;
  const waiting: Turn[] = [];
  let inFlight = 0;
  let lastStartMs = -STARTS_APART_MS;
  let pause: NodeJS.Timeout | undefined;

  const start = async (group: readonly Turn[]): Promise<void> => {
    const noted = ledger.open(group.map((turn) => turn.row));
    try {
      const workflowId = await starter.startTurns(deps.apiProcessId, newId(), { apiQueue: queues.api, turnIds: group.map((turn) => turn.row.id) });
      await noted;
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
  /** A group whose turns were all cancelled ends as cancelled in Temporal too. */
  const cancelWithTurns = async (workflowId: string, group: readonly Turn[]): Promise<void> => {
    const ends = await Promise.all(group.map((turn) => turn.firstPart));
    if (ends.every((end) => end === "cancelled")) await cancel(workflowId, group);
  };
  /** A workflow that is cancelled before its activity began adopts nothing any more. */
  const cancel = async (workflowId: string, turns: readonly Turn[]): Promise<void> => {
    for (const turn of turns) openTurns.release(turn.row.id);
    await starter.cancel(workflowId).catch((error: unknown) => log.info({ err: error, workflowId }, "a cancel did not reach Temporal"));
  };
  const kick = (): void => {
    while (pause === undefined && inFlight < STARTS_IN_FLIGHT && waiting.length > 0) {
      const waitMs = lastStartMs + STARTS_APART_MS - performance.now();
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

  return {
    enter(turn) {
      waiting.push(turn);
      kick();
    },
    async handOver(turn, calls) {
      const { row, principal } = turn;
      const { id, num } = principal.organization;
      const caller = { organization: { id, num }, agentId: row.agent_id, userId: row.user_id, apiKeyId: row.api_key_id };
      // The turn may be handed over before its group is opened. A workflow of a turn that is in no book is found by nobody once this process died.
      await ledger.open([row]);
      let workflowId: string;
      try {
        workflowId = await starter.startTurn({ agentId: row.agent_id, spaceId: row.space_id }, { apiQueue: queues.api, toolQueue: queues.tools, turnId: row.id, caller, calls });
      } catch (error) {
        health.failed(error);
        throw workflowsUnavailable(error);
      }
      // Waits for the turn's end, which may be there already: an abort before the start had resolved.
      void turn.result.then((result) => (result.status === "completed" ? undefined : cancel(workflowId, [turn])));
    },
  };
}

export function workflowsUnavailable(cause?: unknown): DomainError {
  return new DomainError("workflows_unavailable", "The workflow service is not reachable.", { retryAfterSeconds: 2, cause });
}
