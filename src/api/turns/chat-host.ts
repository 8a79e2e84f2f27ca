/** Puts chat together in an API process: lease, Temporal workers, open turns and their bookkeeping. */
import type { Client } from "@temporalio/client";
import type { DataConverter, NativeConnection, WorkflowBundleOption } from "@temporalio/worker";
import type { ChatActivities, TurnsInMemory } from "../../activities/chat.ts";
import type { ToolActivities } from "../../activities/tools.ts";
import type { SecondLook } from "../../agents/quotes/second-look.ts";
import type { Toolbox } from "../../agents/tools/index.ts";
import { DomainError } from "../../domain/errors.ts";
import { newId } from "../../domain/ids.ts";
import type { Principal } from "../../domain/tenancy/principal.ts";
import type { ReceiptSigner } from "../../domain/receipts/statement.ts";
import { TURN_BUDGET, type TurnBudget } from "../../domain/work/turn.ts";
import type { ChatModel } from "../../models/chat/chat-model.ts";
import type { Reranker } from "../../models/rerank/types.ts";
import type { SearchDeps } from "../../search/hybrid.ts";
import { hostChat } from "../../temporal/chat-host.ts";
import type { WorkerHooks } from "../../temporal/hooks.ts";
import { createChatStarter, pingTemporal } from "../../temporal/start/chat.ts";
import { type FindAgent, createAgentLookup } from "./agent-lookup.ts";
import type { TurnRecordsDeps } from "./answers/record-deps.ts";
import { type TurnRecords, createTurnRecords } from "./answers/record.ts";
import { adoptLeftTurns } from "./bookkeeping/adopt-left.ts";
import { watchCancelledTurns } from "./bookkeeping/cancelled-elsewhere.ts";
import { createBookkeeping } from "./bookkeeping/keep-turns.ts";
import { holdLease } from "./bookkeeping/lease.ts";
import { type Ledger, createLedger } from "./bookkeeping/ledger.ts";
import { type OpenTurns, createOpenTurns } from "./bookkeeping/open-turns.ts";
import { workflowsUnavailable } from "./bookkeeping/start-workflows.ts";
import { watchTemporal } from "./bookkeeping/temporal-health.ts";
import { createAccountedRerankers } from "./rerank-on-account.ts";
import { startTurn } from "./start-turn.ts";
import { type TokenBudgets, createTokenBudgets } from "./token-budgets.ts";
import type { AnswerSink, Turn, TurnDeps, TurnRequest } from "./turn.ts";

export interface ChatHostDeps extends TurnRecordsDeps {
  readonly model: ChatModel;
  readonly search: SearchDeps;
  readonly toolbox: Toolbox;
  readonly receipts: ReceiptSigner;
  readonly secondLook?: SecondLook | undefined;
  readonly contextTokens: number;
  readonly budgets: TokenBudgets;
  /** Default {@link TURN_BUDGET}. */
  readonly turnBudget?: TurnBudget | undefined;
  /** The longest silence in a stream, after which a comment is sent. Default 15 s. */
  readonly pingMs?: number | undefined;
  readonly connect: (signal: AbortSignal) => Promise<NativeConnection>;
  /** A client whose calls fail at once while Temporal is down; the one for starts retries for seconds. */
  readonly probe: Client;
  readonly namespace: string;
  /** For the client that starts turns. */
  readonly dataConverter: DataConverter;
  readonly workerDataConverter: DataConverter;
  readonly workerHooks: WorkerHooks;
  readonly workflowBundle: () => Promise<WorkflowBundleOption>;
  /** Makes the activities of turns. Only src/api/deps.ts may import from src/activities (lint). */
  readonly createActivities: (turns: TurnsInMemory) => ChatActivities & ToolActivities;
  readonly queues: { readonly chat: string; readonly tools: string };
}

export interface ChatHost {
  readonly apiProcessId: string;
  /** Resolves when the workers poll for the first time; until then no turn can use tools. */
  readonly ready: Promise<void>;
  readonly findAgent: FindAgent;
  /** Makes the next turns look up the agents with this id or of the space with it, or, without an id, all. */
  readonly forgetAgents: (id?: string) => void;
  readonly records: TurnRecords;
  readonly pingMs: number;
  readonly modelNames: readonly string[];
  /** Whether it is the built-in model, which quotes and calls no functions. */
  readonly isLocal: boolean;
  /** The model as a reranker of a caller's searches, on the caller's account; none if it is built in. */
  rerankerFor(principal: Principal): Reranker | undefined;
  /**
   * Begins a turn; its first model call is under way when this resolves. Without Temporal it fails as
   * `workflows_unavailable` only if the model asks for a tool.
   * @throws DomainError `rate_limited` if a token budget is used up, `shutting_down` if the process stops.
   */
  begin(request: TurnRequest, sink: AnswerSink): Promise<Turn>;
  /** `open` counts all turns in memory, `ended` those of them that have ended. */
  counts(): { open: number; ended: number };
  /** Refuses new turns, waits for those under way, then aborts the rest and stops. */
  shutdown(): Promise<void>;
}

/** Turns that wait for their tools fail once Temporal has been down for this long. */
const TOOLS_WAIT_MS = 10_000;
const DRAIN_MS = 25_000;
const FLUSH_MS = 5_000;
const PING_MS = 15_000;

/** Needs Postgres for the lease; Temporal may be down. @throws DomainError `database_unavailable`. */
export async function createChatHost(deps: ChatHostDeps): Promise<ChatHost> {
  const { db, log } = deps;
  const apiProcessId = newId();
  const ledger = createLedger(db, log);
  const openTurns = createOpenTurns((turnId) => ledger.leave(turnId));
  const records = createTurnRecords(deps);
  const abortTurns = abortingTurnsOf(openTurns);
  const lease = await holdLease(db, apiProcessId, {
    lost: () => abortTurns(new DomainError("turn_lost", "The API process abandoned the turn.")),
    error: (error) => log.warn({ err: error }, "the lease of this API process could not be renewed"),
  });
  const stopWatching = watchCancelledTurns(db, openTurns, (error) =>
    log.warn({ err: error }, "could not check for cancelled turns"),
  );
  const { health, workers, bookkeeping, stopAdopting } = joinTemporal(deps, {
    apiProcessId,
    openTurns,
    ledger,
    abortTurns,
  });
  const turnDeps: TurnDeps = {
    ...deps,
    apiProcessId,
    budget: deps.turnBudget ?? TURN_BUDGET,
    ledger,
    canUseTools: () => health.downForMs() === 0,
    handOver: (turn, calls) => bookkeeping.handOver(turn, calls),
  };
  const checkBudgets = createTokenBudgets(db, deps.budgets, log);
  const agents = createAgentLookup(db);
  let isStopping = false;

  return {
    apiProcessId,
    ready: workers.ready,
    findAgent: agents.find,
    forgetAgents: agents.forget,
    records,
    pingMs: deps.pingMs ?? PING_MS,
    modelNames: deps.model.names,
    isLocal: deps.model.isLocal,
    rerankerFor: createAccountedRerankers({ model: deps.model, ledger, apiProcessId, checkBudgets }),
    async begin(request, sink) {
      if (isStopping)
        throw new DomainError("shutting_down", "This process is shutting down.", { retryAfterSeconds: 1 });
      await checkBudgets(request.principal);
      const turn = startTurn(turnDeps, request, sink);
      openTurns.add(turn);
      bookkeeping.enter(turn);
      return turn;
    },
    counts: () => openTurns.counts(),
    async shutdown() {
      isStopping = true;
      stopAdopting();
      await openTurns.drained(DRAIN_MS);
      abortTurns(new DomainError("turn_lost", "The service is shutting down."));
      await Promise.all([ledger.flushed(FLUSH_MS), records.flushed(FLUSH_MS)]);
      health.stop();
      stopWatching();
      await workers.shutdown();
      await lease.end(openTurns.counts().open === 0);
    },
  };
}

/** Aborts the turns that have not ended, all of them or those for which `which` says so. */
type AbortTurns = (error: DomainError, which?: (turn: Turn) => boolean) => void;

function abortingTurnsOf(openTurns: OpenTurns): AbortTurns {
  return (error, which = () => true) => {
    for (const turn of openTurns.all()) if (turn.status === undefined && which(turn)) turn.abort(error);
  };
}

interface HostParts {
  readonly apiProcessId: string;
  readonly openTurns: OpenTurns;
  readonly ledger: Ledger;
  readonly abortTurns: AbortTurns;
}

/** Starts the workers, the watch over Temporal, and the bookkeeping that starts workflows through both. */
function joinTemporal(deps: ChatHostDeps, { apiProcessId, openTurns, ledger, abortTurns }: HostParts) {
  const { log } = deps;
  const queues = { ...deps.queues, api: `${deps.queues.chat}-api-${apiProcessId}` };
  const health = watchTemporal({
    ping: () => pingTemporal(deps.probe),
    onDown: (downForMs) => {
      openTurns.leaveEnded();
      bookkeeping.giveUpStarts();
      if (downForMs >= TOOLS_WAIT_MS) abortTurns(workflowsUnavailable(), (turn) => turn.isWaitingForTools);
    },
  });
  const workers = hostChat({
    ...deps,
    queues,
    activities: deps.createActivities(openTurns),
    onConnected: (isConnected) => health.setConnected(isConnected),
    onError: (error) => log.warn({ err: error }, "chat workers stopped; restarting them"),
  });
  const starter = createChatStarter(() => workers.client(), queues.chat);
  const bookkeeping = createBookkeeping({ apiProcessId, queues, starter, ledger, openTurns, health, log });
  const stopAdopting = adoptLeftTurns({
    db: deps.db,
    apiProcessId,
    apiQueue: queues.api,
    starter,
    health,
    onError: (error) => log.warn({ err: error }, "workflows could not be started for waiting turns"),
  });
  return { health, workers, bookkeeping, stopAdopting };
}
