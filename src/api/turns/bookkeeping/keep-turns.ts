/** Gives each turn its row and a bookkeeping workflow: shared, or its own if it uses tools. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Agent } from "../../../db/turns/agents-in-chat.ts";
import type { ToolCall } from "../../../domain/work/turn.ts";
import { drillPoint } from "../../../telemetry/drill-point.ts";
import type { Turn } from "../turn.ts";
import { gatherTurns } from "./gather.ts";
import type { Ledger } from "./ledger.ts";
import { type StartDeps, createBookkeepingStarts } from "./start-workflows.ts";

export interface Bookkeeping {
  /** Takes a turn in without waiting. If its workflow cannot be started, it waits as a row once it ended. */
  enter(turn: Turn): void;
  /** Starts the workflow of a turn that asks for tools. @throws DomainError `workflows_unavailable`. */
  handOver(turn: Turn, calls: readonly ToolCall[]): Promise<void>;
  /** Fails the turns whose own workflow is being started: Temporal is away, and its client keeps trying. */
  giveUpStarts(): void;
}

interface BookkeepingDeps extends StartDeps {
  readonly ledger: Ledger;
}

/** How long a turn with tools waits to ask for one, and so get its own workflow, before it joins a group. */
const OWN_WORKFLOW_WITHIN_MS = 1_000;

export function createBookkeeping(deps: BookkeepingDeps): Bookkeeping {
  const { ledger, health } = deps;
  const starts = createBookkeepingStarts(deps);
  const gather = gatherTurns((group) => starts.startGroup(group));
  const join = (turn: Turn): void => (health.downForMs() > 0 ? starts.leaveToLater(turn) : gather(turn));

  return {
    giveUpStarts: () => starts.giveUp(),
    enter(turn) {
      ledger.open(turn.row);
      if (!usesTools(turn.agent)) return join(turn);
      void Promise.race([turn.firstPart, sleep(OWN_WORKFLOW_WITHIN_MS)]).then((end) => {
        const hasOwnWorkflow = end === "handed_over" || turn.isWaitingForTools;
        if (!hasOwnWorkflow) join(turn);
      });
    },
    async handOver(turn, calls) {
      // If this process dies, others find the workflow by the turn's row: the row is written first.
      await ledger.noted(turn.row);
      await drillPoint("chatTurn: tools asked for, workflow not started");
      await starts.startOwn(turn, calls);
    },
  };
}

/** A `rag` agent searches first, and uses no tools. */
function usesTools({ agent_type, tool_attachments }: Agent): boolean {
  return agent_type !== "rag" && tool_attachments.length > 0;
}
