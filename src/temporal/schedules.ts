/** The only list of schedules: what Temporal starts by the clock. */
import { type Client, ScheduleAlreadyRunning, type ScheduleOptions, ScheduleOverlapPolicy } from "@temporalio/client";
import { TypedSearchAttributes } from "@temporalio/common";
import type { MaintenanceInput } from "../domain/maintenance.ts";
import { withDeadline } from "./connection.ts";
import { QUEUES } from "./queues.ts";
import { ATTRIBUTES } from "./search-attributes.ts";

/** A round that is missed by longer than this is left to the next. */
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
      args: [input],
      staticSummary: input.isThorough ? "removes what is not needed and compares everything" : "removes what is not needed",
      typedSearchAttributes: new TypedSearchAttributes([{ key: ATTRIBUTES.Trigger, value: "schedule" }]),
    },
    policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: CATCHUP_WINDOW },
  } satisfies ScheduleOptions;
}

const indexUpkeepSchedule = {
  scheduleId: "index-upkeep",
  spec: { intervals: [{ every: "1 minute" }] },
  action: {
    type: "startWorkflow",
    workflowType: "indexUpkeep",
    workflowId: "index-upkeep",
    taskQueue: QUEUES.pipeline,
    staticSummary: "tends search indexes",
    typedSearchAttributes: new TypedSearchAttributes([{ key: ATTRIBUTES.Trigger, value: "schedule" }]),
  },
  policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: CATCHUP_WINDOW },
} satisfies ScheduleOptions;

const SCHEDULES = [
  maintenanceSchedule("maintenance", "10 minutes", { isThorough: false }),
  maintenanceSchedule("maintenance-thorough", "1 day", { isThorough: true }),
  indexUpkeepSchedule,
];

/** Makes the schedules, or brings those that exist up to date; one that an operator paused stays paused. Any process, at any time. */
export async function ensureSchedules(client: Client): Promise<void> {
  for (const schedule of SCHEDULES) {
    try {
      await withDeadline(client, () => client.schedule.create(schedule));
    } catch (error) {
      if (!(error instanceof ScheduleAlreadyRunning)) throw error;
      const { spec, action, policies } = schedule;
      await withDeadline(client, () => client.schedule.getHandle(schedule.scheduleId).update(({ state }) => ({ spec, action, policies, state })));
    }
  }
}
