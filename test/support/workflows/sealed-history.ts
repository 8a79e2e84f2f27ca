/**
 * Recorded histories are stored decrypted. This marks each payload as the codec of a worker does that has
 * opened it at its place, so that a replay passes the workflow's own checks.
 */
import type { Payload } from "@temporalio/common";
import proto from "@temporalio/proto";
import type { DataConverter } from "@temporalio/worker";
import { NO_ARGUMENTS, ONLY, type Place, opened, slotOf } from "../../../src/domain/payloads/places.ts";
import { FAILURE_CONVERTER_PATH } from "../../../src/temporal/workflow-bundle.ts";

type History = proto.temporal.api.history.v1.IHistory;
type Event = proto.temporal.api.history.v1.IHistoryEvent;
type NamedPlace = Omit<Place, "slot">;
interface Payloads {
  payloads?: Payload[] | null;
}

/** Leaves payloads as they are: {@link sealedHistory} has marked them. */
export const replayConverter: DataConverter = {
  failureConverterPath: FAILURE_CONVERTER_PATH,
  payloadCodecs: [{ encode: async (payloads) => payloads, decode: async (payloads) => payloads }],
};

export function sealedHistory(recorded: object): History {
  const history = proto.temporal.api.history.v1.History.fromObject(recorded) as History;
  const activities = new Map<number, string>();
  for (const event of history.events ?? []) {
    const scheduled = event.activityTaskScheduledEventAttributes;
    if (scheduled) activities.set(Number(event.eventId), scheduled.activityType?.name ?? "");
    markFailures(event);
    markMessages(event);
    markResults(event, activities);
    markLocalResult(event);
  }
  return history;
}

function bound(payload: Payload, place: NamedPlace, slot: string): Payload {
  return opened(payload, { form: "bound", place: { ...place, slot } });
}

const NOTHING: Payload = {
  metadata: { encoding: Buffer.from("json/plain") },
  data: Buffer.from("null"),
};

function listed(list: Payloads | null | undefined, place: NamedPlace): Payloads {
  const payloads = list?.payloads ?? [];
  if (payloads.length === 0) return { payloads: [bound(NOTHING, place, NO_ARGUMENTS)] };
  return {
    payloads: payloads.map((payload, index) => bound(payload, place, slotOf(index, payloads.length))),
  };
}

function markMessages({
  workflowExecutionStartedEventAttributes: started,
  workflowExecutionSignaledEventAttributes: signaled,
}: Event): void {
  if (started) {
    const isChild = Boolean(started.parentWorkflowExecution) && !started.continuedExecutionRunId;
    const name = started.workflowType?.name ?? "";
    started.input = listed(started.input, { kind: isChild ? "child" : "input", name });
  }
  if (signaled) signaled.input = listed(signaled.input, { kind: "signal", name: signaled.signalName ?? "" });
}

function markResults(
  {
    activityTaskCompletedEventAttributes: completed,
    childWorkflowExecutionCompletedEventAttributes: child,
  }: Event,
  activities: ReadonlyMap<number, string>,
): void {
  if (completed) {
    const name = activities.get(Number(completed.scheduledEventId)) ?? "";
    completed.result = result(completed.result, { kind: "activity-result", name });
  }
  if (child) child.result = result(child.result, { kind: "result", name: child.workflowType?.name ?? "" });
}

function markLocalResult({ markerRecordedEventAttributes: marker }: Event): void {
  const { details } = marker ?? {};
  const [data] = details?.["data"]?.payloads ?? [];
  if (!details || !data?.data || marker?.markerName !== "core_local_activity") return;
  const { activity_type: name } = JSON.parse(Buffer.from(data.data).toString()) as { activity_type: string };
  details["result"] = result(details["result"], { kind: "local-activity-result", name });
}

function result(list: Payloads | null | undefined, place: NamedPlace): Payloads {
  return { payloads: [bound(list?.payloads?.[0] ?? NOTHING, place, ONLY)] };
}

/** Marks all of every failure in `part`, at whatever depth it is. */
function markFailures(part: unknown): void {
  if (typeof part !== "object" || part === null || part instanceof Uint8Array) return;
  for (const [name, value] of Object.entries(part)) {
    if (name === "encodedAttributes" && value) Object.assign(part, { [name]: failed(value as Payload) });
    if (/^(details|lastHeartbeatDetails)$/.test(name)) {
      const list = value as Payloads | null;
      if (Array.isArray(list?.payloads)) list.payloads = list.payloads.map(failed);
    }
    markFailures(value);
  }
}

const failed = (payload: Payload): Payload => bound(payload, { kind: "failure", name: "" }, ONLY);
