/**
 * Seals at the edges of clients and activities: marks each value with its place, and refuses arguments that
 * were not sealed for the activity.
 */
import { ApplicationFailure } from "@temporalio/common";
import type { WorkflowClientInterceptor } from "@temporalio/client";
import type { ActivityInterceptors, ActivityInterceptorsFactory, InjectedSinks } from "@temporalio/worker";
import {
  FORGED,
  FORGED_MESSAGE,
  ONLY,
  type Refusal,
  isAbsence,
  refusalOfAll,
} from "../../domain/payloads/places.ts";
import {
  type OpenedValue,
  openedOfValue,
  placedArguments,
  placedValue,
} from "../../domain/payloads/values.ts";
import { refusedPayloads } from "../../telemetry/instruments.ts";
import type { SealSinks } from "../../domain/payloads/seal-sinks.ts";

/**
 * Marks what a client sends with its place. The arguments of schedules are marked in schedules.ts, because
 * Temporal has no interceptor for updates of a schedule.
 */
export const clientSealing = {
  workflow: [
    {
      startWithDetails: (input, next) => {
        const args = placedArguments(input.options.args ?? [], { kind: "input", name: input.workflowType });
        return next({ ...input, options: { ...input.options, args } });
      },
      signal: (input, next) =>
        next({ ...input, args: placedArguments(input.args, { kind: "signal", name: input.signalName }) }),
      signalWithStart: (input, next) => {
        const args = placedArguments(input.options.args ?? [], { kind: "input", name: input.workflowType });
        return next({
          ...input,
          signalArgs: placedArguments(input.signalArgs, { kind: "signal", name: input.signalName }),
          options: { ...input.options, args },
        });
      },
      query: (input, next) =>
        next({ ...input, args: placedArguments(input.args, { kind: "query", name: input.queryType }) }),
      startUpdate: (input, next) =>
        next({ ...input, args: placedArguments(input.args, { kind: "update", name: input.updateName }) }),
    },
  ],
} satisfies { readonly workflow: WorkflowClientInterceptor[] };

/** Logs that a payload was refused, never what was in it. */
export type ReportRefused = (refused: {
  readonly workflow_id: string;
  readonly type: string;
  readonly what: string;
  readonly reason: Refusal;
}) => void;

/** For every worker: reports what workflows refuse; fails activities with arguments sealed for others. */
export function workerSealing(report: ReportRefused) {
  const note: ReportRefused = (refused) => {
    refusedPayloads.inc({ what: refused.what, reason: refused.reason });
    report(refused);
  };
  const sinks: InjectedSinks<SealSinks> = {
    seals: {
      refused: {
        fn: ({ workflowId, workflowType }, what, reason) =>
          note({ workflow_id: workflowId, type: workflowType, what, reason }),
      },
    },
  };
  const activity: ActivityInterceptorsFactory = ({ info }): ActivityInterceptors => ({
    inbound: {
      async execute(input, next) {
        const [inKind, outKind] = info.isLocal
          ? (["local-activity-input", "local-activity-result"] as const)
          : (["activity-input", "activity-result"] as const);
        const workflowId = info.workflowExecution?.workflowId;
        const found = input.args.map(openedOfValue);
        const expected = { kinds: [inKind], name: info.activityType };
        const refusal = refusalOfAll(found, expected);
        if (refusal !== null) {
          note({ workflow_id: workflowId ?? "", type: info.activityType, what: inKind, reason: refusal });
          throw ApplicationFailure.nonRetryable(FORGED_MESSAGE, FORGED);
        }
        const args = found.some(isAbsence)
          ? []
          : input.args.map((argument) => (argument as OpenedValue).value);
        return placedValue(await next({ ...input, args }), {
          kind: outKind,
          name: info.activityType,
          slot: ONLY,
        });
      },
    },
  });
  return { interceptors: { activity: [activity] }, sinks };
}
