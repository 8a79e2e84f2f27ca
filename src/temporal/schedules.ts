/** The schedules: workflows that Temporal starts by the clock. */
import {
  type Client,
  ScheduleAlreadyRunning,
  type ScheduleOptions,
  ScheduleOverlapPolicy,
} from "@temporalio/client";
import { TypedSearchAttributes } from "@temporalio/common";
import { DomainError } from "../domain/errors.ts";
import type { MaintenanceInput } from "../domain/work/maintenance-rounds.ts";
import { placedArguments } from "../domain/payloads/values.ts";
import { SCHEDULE_IDS } from "../domain/work/workflow-ids.ts";
import { withDeadline } from "./connection.ts";
import { QUEUES } from "../domain/work/queues.ts";
import { ATTRIBUTES } from "./search-attributes.ts";

/** A round that is missed by more than this is skipped. */
const CATCHUP_WINDOW = "1 minute";

function maintenanceSchedule(name: string, every: "10 minutes" | "1 day", input: MaintenanceInput) {
  return {
    scheduleId: name,
    spec: { intervals: [{ every }] },
    action: {
      type: "startWorkflow",
      workflowType: "maintenance",
      workflowId: name,
      taskQueue: QUEUES.pipeline,
      args: placedArguments([input], { kind: "input", name: "maintenance" }),
      staticSummary: input.isThorough
        ? "removes what is not needed and compares everything"
        : "removes what is not needed",
      typedSearchAttributes: new TypedSearchAttributes([{ key: ATTRIBUTES.Trigger, value: "schedule" }]),
    },
    policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: CATCHUP_WINDOW },
  } satisfies ScheduleOptions;
}

const indexUpkeepSchedule = {
  scheduleId: SCHEDULE_IDS.indexUpkeep,
  spec: { intervals: [{ every: "1 minute" }] },
  action: {
    type: "startWorkflow",
    workflowType: "indexUpkeep",
    workflowId: SCHEDULE_IDS.indexUpkeep,
    taskQueue: QUEUES.pipeline,
    args: placedArguments([], { kind: "input", name: "indexUpkeep" }),
    staticSummary: "tends search indexes",
    typedSearchAttributes: new TypedSearchAttributes([{ key: ATTRIBUTES.Trigger, value: "schedule" }]),
  },
  policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: CATCHUP_WINDOW },
} satisfies ScheduleOptions;

const SCHEDULES = [
  maintenanceSchedule(SCHEDULE_IDS.maintenance, "10 minutes", { isThorough: false }),
  maintenanceSchedule(SCHEDULE_IDS.maintenanceThorough, "1 day", { isThorough: true }),
  indexUpkeepSchedule,
];

const UNREADABLE: ReadonlySet<string> = new Set(["corrupt", "not_found"]);

/** Creates or updates the schedules; one that an operator paused stays so. Idempotent, for any process. */
export async function ensureSchedules(client: Client): Promise<void> {
  for (const schedule of SCHEDULES) {
    try {
      await withDeadline(client, () => client.schedule.create(schedule));
    } catch (error) {
      if (!(error instanceof ScheduleAlreadyRunning)) throw error;
      await bringUpToDate(client, schedule);
    }
  }
}

async function bringUpToDate(client: Client, schedule: (typeof SCHEDULES)[number]): Promise<void> {
  const { spec, action, policies } = schedule;
  const handle = client.schedule.getHandle(schedule.scheduleId);
  try {
    await withDeadline(client, () => handle.update(({ state }) => ({ spec, action, policies, state })));
  } catch (error) {
    if (!(error instanceof DomainError) || !UNREADABLE.has(error.code)) throw error;
    // Its payloads were not written by us, so nothing of it is kept.
    await withDeadline(client, () => handle.delete());
    await withDeadline(client, () => client.schedule.create(schedule));
  }
}
