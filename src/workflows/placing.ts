/** Marks each payload in a workflow's commands with its place, to which its seal then binds it. */
import type { Payload } from "@temporalio/common";
import type { coresdk } from "@temporalio/proto";
import { ONLY, type Place, noArguments, placed, slotOf } from "../domain/payloads/places.ts";
import { placedFailure } from "../domain/payloads/failures.ts";

type Command = coresdk.workflow_commands.IWorkflowCommand;
type NamedPlace = Omit<Place, "slot">;

/** What the workflow asked for and has no answer to, by Temporal's number: an answer must fit it. */
export interface Sent {
  readonly activities: Map<number, { readonly name: string; readonly isLocal: boolean }>;
  /** Types of child workflows. */
  readonly children: Map<number, string>;
  /** Names of queries by their id, and of updates by the id of their exchange. */
  readonly queries: Map<string, string>;
}

/** @param workflowType of the workflow whose command it is. */
export function placeCommand(sent: Sent, workflowType: string, command: Command): Command {
  const change = { ...command };
  placeCalls(sent, change);
  placeEnds(workflowType, change);
  placeAnswers(sent, change);
  if (change.userMetadata) change.userMetadata = placeNotes(change.userMetadata);
  return change;
}

function list(payloads: readonly Payload[] | null | undefined, place: NamedPlace): Payload[] {
  if (!payloads || payloads.length === 0) return [noArguments(place)];
  return payloads.map((payload, index) =>
    placed(payload, { ...place, slot: slotOf(index, payloads.length) }),
  );
}

function single<P extends Payload | null | undefined>(payload: P, place: NamedPlace): P | Payload {
  return payload ? placed(payload, { ...place, slot: ONLY }) : payload;
}

/** Marks what the workflow sends to activities, child workflows and other workflows. */
function placeCalls(sent: Sent, change: Command): void {
  const {
    scheduleActivity,
    scheduleLocalActivity,
    startChildWorkflowExecution,
    signalExternalWorkflowExecution,
  } = change;
  if (scheduleActivity) {
    const name = scheduleActivity.activityType ?? "";
    sent.activities.set(scheduleActivity.seq ?? 0, { name, isLocal: false });
    change.scheduleActivity = {
      ...scheduleActivity,
      arguments: list(scheduleActivity.arguments, { kind: "activity-input", name }),
    };
  }
  if (scheduleLocalActivity) {
    const name = scheduleLocalActivity.activityType ?? "";
    sent.activities.set(scheduleLocalActivity.seq ?? 0, { name, isLocal: true });
    change.scheduleLocalActivity = {
      ...scheduleLocalActivity,
      arguments: list(scheduleLocalActivity.arguments, { kind: "local-activity-input", name }),
    };
  }
  if (startChildWorkflowExecution) {
    const name = startChildWorkflowExecution.workflowType ?? "";
    sent.children.set(startChildWorkflowExecution.seq ?? 0, name);
    change.startChildWorkflowExecution = {
      ...startChildWorkflowExecution,
      input: list(startChildWorkflowExecution.input, { kind: "child", name }),
    };
  }
  if (signalExternalWorkflowExecution) {
    const place = { kind: "signal", name: signalExternalWorkflowExecution.signalName ?? "" } as const;
    change.signalExternalWorkflowExecution = {
      ...signalExternalWorkflowExecution,
      args: list(signalExternalWorkflowExecution.args, place),
    };
  }
}

/** Marks what the run ends with: a result, a failure, or the input of the run that continues it. */
function placeEnds(workflowType: string, change: Command): void {
  const { completeWorkflowExecution, failWorkflowExecution, continueAsNewWorkflowExecution } = change;
  if (completeWorkflowExecution) {
    change.completeWorkflowExecution = {
      ...completeWorkflowExecution,
      result: single(completeWorkflowExecution.result, { kind: "result", name: workflowType }) ?? null,
    };
  }
  if (failWorkflowExecution?.failure)
    change.failWorkflowExecution = {
      ...failWorkflowExecution,
      failure: placedFailure(failWorkflowExecution.failure),
    };
  if (continueAsNewWorkflowExecution) {
    const place = {
      kind: "input",
      name: continueAsNewWorkflowExecution.workflowType || workflowType,
    } as const;
    change.continueAsNewWorkflowExecution = {
      ...continueAsNewWorkflowExecution,
      arguments: list(continueAsNewWorkflowExecution.arguments, place),
    };
  }
}

function placeAnswers({ queries }: Sent, change: Command): void {
  const { respondToQuery, updateResponse } = change;
  if (respondToQuery)
    change.respondToQuery = placeQueryResult(respondToQuery, queries.get(respondToQuery.queryId ?? "") ?? "");
  if (respondToQuery) queries.delete(respondToQuery.queryId ?? "");
  if (updateResponse)
    change.updateResponse = placeUpdateResult(
      updateResponse,
      queries.get(updateResponse.protocolInstanceId ?? "") ?? "",
    );
}

function placeQueryResult(
  answer: coresdk.workflow_commands.IQueryResult,
  name: string,
): coresdk.workflow_commands.IQueryResult {
  const { succeeded, failed } = answer;
  return {
    ...answer,
    ...(succeeded
      ? { succeeded: { response: single(succeeded.response, { kind: "query-result", name }) ?? null } }
      : {}),
    ...(failed ? { failed: placedFailure(failed) } : {}),
  };
}

function placeUpdateResult(
  answer: coresdk.workflow_commands.IUpdateResponse,
  name: string,
): coresdk.workflow_commands.IUpdateResponse {
  const { completed, rejected } = answer;
  return {
    ...answer,
    ...(completed ? { completed: single(completed, { kind: "update-result", name }) ?? null } : {}),
    ...(rejected ? { rejected: placedFailure(rejected) } : {}),
  };
}

/** Marks the summary and the details, which only people read. */
function placeNotes({
  summary,
  details,
}: NonNullable<Command["userMetadata"]>): NonNullable<Command["userMetadata"]> {
  const place = { kind: "note", name: "" } as const;
  return { summary: single(summary, place) ?? null, details: single(details, place) ?? null };
}
