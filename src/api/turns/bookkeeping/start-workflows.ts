/** Starts and cancels the bookkeeping workflows of turns in Temporal. */
import { DomainError } from "../../../domain/errors.ts";
import { newId } from "../../../domain/ids.ts";
import type { ToolCall } from "../../../domain/work/turn.ts";
import type { Log } from "../../../process/log.ts";
import { drillPoint } from "../../../telemetry/drill-point.ts";
import type { ChatStarter } from "../../../temporal/start/chat.ts";
import type { ChatTurnInput } from "../../../domain/work/chat-workflows.ts";
import type { Turn } from "../turn.ts";
import { createCancelledBookkeeping } from "./keep-cancelled.ts";
import type { OpenTurns } from "./open-turns.ts";
import type { TemporalHealth } from "./temporal-health.ts";

export interface StartDeps {
  readonly apiProcessId: string;
  readonly queues: { readonly api: string; readonly tools: string };
  readonly starter: ChatStarter;
  readonly openTurns: OpenTurns;
  readonly health: TemporalHealth;
  readonly log: Log;
}

interface BookkeepingStarts {
  /** Starts the workflow of a group. Never rejects: after a failure its turns wait as rows once they end. */
  startGroup(group: readonly Turn[]): Promise<void>;
  /** Leaves a turn to a later workflow once it has ended, unless it gets its own. */
  leaveToLater(turn: Turn): void;
  /** Starts the workflow of a turn that asks for tools. @throws DomainError `workflows_unavailable`. */
  startOwn(turn: Turn, calls: readonly ToolCall[]): Promise<void>;
  /** Fails the turns of which {@link startOwn} waits for Temporal. */
  giveUp(): void;
}

export function createBookkeepingStarts(deps: StartDeps): BookkeepingStarts {
  const { queues, starter, openTurns, health, log } = deps;
  const noteCancelled = createCancelledBookkeeping(async (turn) => {
    const input = { ...inputOf(turn, queues), calls: [], isCancelled: true };
    await starter.cancel(await starter.startTurn(placeOf(turn), input));
  }, log);

  /** A workflow that is cancelled before its activity began adopts no turn: its turns are released here. */
  const cancel = async (workflowId: string, turns: readonly Turn[]): Promise<void> => {
    for (const turn of turns) openTurns.release(turn.row.id);
    await starter
      .cancel(workflowId)
      .catch((error: unknown) => log.info({ err: error, workflowId }, "a cancel did not reach Temporal"));
  };
  /** Cancels a group's workflow if all its turns were cancelled; one cancelled among others gets its own. */
  const cancelWithTurns = async (workflowId: string, group: readonly Turn[]): Promise<void> => {
    const ends = await Promise.all(
      group.map(async (turn) => {
        const end = await turn.firstPart;
        // Temporal has no place for a turn without an agent; its row says how it ended.
        if (end === "cancelled" && group.length > 1 && !turn.agent.isModel) noteCancelled(turn);
        return end;
      }),
    );
    if (ends.every((end) => end === "cancelled")) await cancel(workflowId, group);
  };
  /** @returns the error of a turn that gets no workflow of its own, and may be in no group. */
  const refuse = (turn: Turn, cause?: unknown): DomainError => {
    void turn.result.then(() => openTurns.leave(turn.row.id));
    return workflowsUnavailable(cause);
  };
  const leaveToLater = (turn: Turn): void => {
    void turn.firstPart.then((end) => (end === "handed_over" ? undefined : openTurns.leave(turn.row.id)));
  };

  const starting = new Set<Turn>();

  return {
    leaveToLater,
    giveUp() {
      for (const turn of starting) turn.abort(workflowsUnavailable());
    },
    async startGroup(group) {
      if (health.downForMs() > 0) return group.forEach(leaveToLater);
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
        log.warn({ err: error, turns: group.length }, "chat turn records could not be started");
        group.forEach(leaveToLater);
      }
    },
    async startOwn(turn, calls) {
      let workflowId: string;
      if (health.downForMs() > 0) throw refuse(turn);
      starting.add(turn);
      try {
        workflowId = await starter.startTurn(placeOf(turn), { ...inputOf(turn, queues), calls });
      } catch (error) {
        health.failed(error);
        throw refuse(turn, error);
      } finally {
        starting.delete(turn);
      }
      // The turn may have been aborted before the start had resolved: then its result is there already.
      void turn.result.then((result) =>
        result.status === "completed" ? undefined : cancel(workflowId, [turn]),
      );
    },
  };
}

function placeOf({ agent }: Turn): { agentId: string; spaceId: string } {
  return { agentId: agent.id, spaceId: agent.space_id };
}

function inputOf({ row, agent, principal }: Turn, queues: StartDeps["queues"]): Omit<ChatTurnInput, "calls"> {
  const { id, num } = principal.organization;
  const caller = {
    organization: { id, num },
    agentId: agent.id,
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
