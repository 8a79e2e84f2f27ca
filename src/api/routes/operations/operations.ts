/** The instance as operators see it: dependencies, queues, what waits, orphans, long work, processes. */
import { readOutboxes, listWaiting } from "../../../db/instance/outbox-state.ts";
import { listTurnLeases } from "../../../db/instance/process-leases.ts";
import { listProcesses, type ProcessRow } from "../../../db/instance/processes.ts";
import { listWork, waitsFor, type WorkRow } from "../../../db/instance/work-list.ts";
import { readOrphanCounts } from "../../../db/upkeep/orphan-counts.ts";
import { pageOf } from "../../../schema/fields.ts";
import { Dependencies, Processes } from "../../../schema/operations/conditions.ts";
import {
  LongRunningPage,
  LongRunningQuery,
  Orphans,
  Queues,
  WaitingPage,
  WaitingQuery,
} from "../../../schema/operations/work.ts";
import { defineRoute } from "../../route.ts";

const MOST_POLLERS = 100;
const MOST_PROCESSES = 1_000;
const FOR_OPERATORS =
  "For operators: the token's claim `roles` holds `operators`, and its subject need not be a member of any " +
  "organization. Holds ids and counts, and nothing that belongs to a tenant.";

const getDependencies = defineRoute("GET /operations/dependencies", {
  access: "operator",
  operation: "operations.dependencies",
  summary: "The service's dependencies, and whether they respond.",
  description: FOR_OPERATORS,
  response: Dependencies,
  handle: ({ deps }) => deps.operations.dependencies(),
});

const getQueues = defineRoute("GET /operations/queues", {
  access: "operator",
  operation: "operations.queues",
  summary: "The backlog and pollers of the task queues and outboxes.",
  description: FOR_OPERATORS,
  response: Queues,
  async handle({ deps }) {
    const [facts, outbox] = await Promise.all([deps.operations.queues(), readOutboxes(deps.db)]);
    const taskQueues = (facts?.backlog ?? []).map(({ queue, type, count, ageSeconds }) => {
      const pollers = facts?.pollers.get(queue) ?? [];
      return {
        queue,
        type,
        backlog: count,
        backlog_age_seconds: ageSeconds,
        pollers: pollers.slice(0, MOST_POLLERS),
        poller_count: pollers.length,
      };
    });
    return { workflows_reachable: facts !== undefined, task_queues: taskQueues, outbox };
  },
});

const getWaiting = defineRoute("GET /operations/waiting", {
  access: "operator",
  operation: "operations.waiting",
  summary: "Waiting work: what it is waiting for, and since when.",
  description: `Grouped by organization and by what is waited for, the longest wait first. ${FOR_OPERATORS}`,
  query: WaitingQuery,
  response: WaitingPage,
  handle: async ({ deps, query }) => pageOf(await listWaiting(deps.db, query), query),
});

const getOrphans = defineRoute("GET /operations/orphans", {
  access: "operator",
  operation: "operations.orphans",
  summary: "Orphaned or incomplete items found by the last count.",
  description: FOR_OPERATORS,
  response: Orphans,
  async handle({ deps }) {
    const { counts, ...rest } = await readOrphanCounts(deps.db);
    return { ...rest, kinds: Object.entries(counts).map(([kind, count]) => ({ kind, count })) };
  },
});

const getLongRunning = defineRoute("GET /operations/long-running", {
  access: "operator",
  operation: "operations.long_running",
  summary: "Operations, deletions and batches that are under way.",
  description: `The newest first, as \`holdfast operations list\` shows them. ${FOR_OPERATORS}`,
  query: LongRunningQuery,
  response: LongRunningPage,
  async handle({ deps, query }) {
    const { items, total } = await listWork(deps.db, { ...query, includesEnded: query.include_ended });
    return pageOf({ items: items.map(presentWork), total }, query);
  },
});

const STATES = {
  "asked for": "asked_for",
  waits: "waits",
  "under way": "under_way",
  paused: "paused",
  completed: "completed",
  failed: "failed",
} as const;

/** Names and reports are left out: those are a tenant's, or may hold paths of the machine. */
function presentWork(row: WorkRow) {
  const { id, kind, organization_id, since, not_before, completed_at } = row;
  const state = STATES[row.state];
  return { id, kind, organization_id, state, since, not_before, completed_at, waits_for: waitsFor(row) };
}

const getProcesses = defineRoute("GET /operations/processes", {
  access: "operator",
  operation: "operations.processes",
  summary: "The API and worker processes, and the leases that they hold.",
  description: FOR_OPERATORS,
  response: Processes,
  async handle({ deps }) {
    const [facts, registered, leases] = await Promise.all([
      deps.operations.queues(),
      listProcesses(deps.db),
      listTurnLeases(deps.db),
    ]);
    const polled = queuesOfProcesses(facts?.pollers ?? new Map());
    return {
      workflows_reachable: facts !== undefined,
      processes: [
        ...registered.map((row) => ({ ...row, queues: polled.get(row.identity) ?? row.queues })),
        ...unregistered(polled, registered),
      ].slice(0, MOST_PROCESSES),
      turn_leases: leases,
    };
  },
});

function queuesOfProcesses(pollers: ReadonlyMap<string, readonly string[]>): Map<string, string[]> {
  const queues = new Map<string, string[]>();
  for (const [queue, identities] of pollers)
    for (const identity of identities) queues.set(identity, [...(queues.get(identity) ?? []), queue]);
  return queues;
}

/** Those of versions before, and those that work on suspected documents alone. */
function unregistered(polled: ReadonlyMap<string, string[]>, registered: readonly ProcessRow[]) {
  const known = new Set(registered.map(({ identity }) => identity));
  return [...polled]
    .filter(([identity]) => !known.has(identity))
    .map(([identity, queues]) => ({
      id: null,
      kind: null,
      version: null,
      identity,
      queues,
      started_at: null,
      renewed_at: null,
      is_alive: true,
    }));
}

export const operationRoutes = [
  getDependencies,
  getQueues,
  getWaiting,
  getOrphans,
  getLongRunning,
  getProcesses,
];
