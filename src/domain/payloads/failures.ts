/** Failures as Temporal writes them: their payloads marked for the seal, and what nobody of ours sealed taken out of them. Runs in the workflow sandbox too. */
import type { Payload } from "@temporalio/common";
import type { temporal } from "@temporalio/proto";
import {
  FORGED,
  FORGED_MESSAGE,
  ONLY,
  type PayloadKind,
  type Refusal,
  openedOf,
  placed,
  refusalOf,
} from "./places.ts";

export type Failure = temporal.api.failure.v1.IFailure;
type Details = "details" | "lastHeartbeatDetails";

/** A chain of causes is no longer than this; what follows is cut off. */
const CAUSES_MAX = 20;

/** The failure, its messages, stacks and details marked as those of a failure. What a time-out carries along is a heartbeat, and is sealed anew as a failure's. */
export function placedFailure(failure: Failure, depth = 0): Failure {
  const place = { kind: "failure", name: "", slot: ONLY } as const;
  const { encodedAttributes, cause } = failure;
  return {
    ...withDetails(failure, (payload) => placed(payload, place)),
    ...(encodedAttributes ? { encodedAttributes: placed(encodedAttributes, place) } : {}),
    ...(cause ? { cause: depth < CAUSES_MAX ? placedFailure(cause, depth + 1) : null } : {}),
  };
}

/**
 * The failure without what was not sealed as a failure of this workflow. Its class cannot be sealed (Temporal reads it), so that one who may
 * call Temporal can make a step fail, as such a one can terminate it; but no text of theirs goes on.
 * @param begunAt milliseconds since 1970 at which the workflow began.
 */
export function trustedFailure(
  failure: Failure,
  begunAt: number,
  onRefused: (refusal: Refusal) => void,
  depth = 0,
): Failure {
  const isTrusted = (payload: Payload, kinds: readonly PayloadKind[]): boolean => {
    const refusal = refusalOf(openedOf(payload), { kinds, name: "", begunAt }, ONLY);
    if (refusal !== null) onRefused(refusal);
    return refusal === null;
  };
  const { encodedAttributes, applicationFailureInfo, cause } = failure;
  const clean = {
    ...withDetails(failure, (payload, of) =>
      isTrusted(payload, of === "details" ? ["failure"] : ["heartbeat", "failure"]) ? payload : null,
    ),
    ...(cause
      ? { cause: depth < CAUSES_MAX ? trustedFailure(cause, begunAt, onRefused, depth + 1) : null }
      : {}),
  };
  if (encodedAttributes && isTrusted(encodedAttributes, ["failure"])) return clean;
  // What the server itself says, as of a time-out, has no text of ours.
  if (!encodedAttributes && !applicationFailureInfo) return clean;
  if (!encodedAttributes) onRefused("unsealed");
  const info = applicationFailureInfo
    ? { applicationFailureInfo: { type: FORGED, nonRetryable: applicationFailureInfo.nonRetryable ?? false } }
    : {};
  return { ...clean, ...info, message: FORGED_MESSAGE, stackTrace: "", encodedAttributes: null };
}

/** The failure with `change` made to every detail that it has; those that it makes null are left out. */
function withDetails(failure: Failure, change: (payload: Payload, of: Details) => Payload | null): Failure {
  const {
    applicationFailureInfo: application,
    canceledFailureInfo: cancelled,
    timeoutFailureInfo: timeout,
    resetWorkflowFailureInfo: reset,
  } = failure;
  const changed = (details: temporal.api.common.v1.IPayloads | null | undefined, of: Details) =>
    details
      ? {
          payloads: (details.payloads ?? [])
            .map((payload) => change(payload, of))
            .filter((payload) => payload !== null),
        }
      : null;
  return {
    ...failure,
    ...(application
      ? { applicationFailureInfo: { ...application, details: changed(application.details, "details") } }
      : {}),
    ...(cancelled
      ? { canceledFailureInfo: { ...cancelled, details: changed(cancelled.details, "details") } }
      : {}),
    ...(timeout
      ? {
          timeoutFailureInfo: {
            ...timeout,
            lastHeartbeatDetails: changed(timeout.lastHeartbeatDetails, "lastHeartbeatDetails"),
          },
        }
      : {}),
    ...(reset
      ? {
          resetWorkflowFailureInfo: {
            ...reset,
            lastHeartbeatDetails: changed(reset.lastHeartbeatDetails, "lastHeartbeatDetails"),
          },
        }
      : {}),
  };
}

/** What a result that was refused becomes: a failure that is not tried again. */
export function forgedFailure(): Failure {
  return {
    message: FORGED_MESSAGE,
    source: "holdfast",
    stackTrace: "",
    applicationFailureInfo: { type: FORGED, nonRetryable: true },
  };
}
