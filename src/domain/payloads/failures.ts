/** Temporal's failures: marks payloads, removes what we did not seal. Runs in the workflow sandbox too. */
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

/** A chain of causes is cut off after this many. */
const CAUSES_MAX = 20;

/** Marks messages, stacks and details as a failure's. A time-out's heartbeat is sealed again with it. */
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
 * Removes what was not sealed as a failure of this workflow. The class of a failure cannot be sealed, because
 * Temporal reads it: whoever may call Temporal can make a step fail, as they can terminate a workflow, but no
 * text of theirs gets through.
 */
export function trustedFailure(failure: Failure, onRefused: (refusal: Refusal) => void, depth = 0): Failure {
  const isTrusted = (payload: Payload, kinds: readonly PayloadKind[]): boolean => {
    const refusal = refusalOf(openedOf(payload), { kinds, name: "" }, ONLY);
    if (refusal !== null) onRefused(refusal);
    return refusal === null;
  };
  const { encodedAttributes, applicationFailureInfo, cause } = failure;
  const clean = {
    ...withDetails(failure, (payload, of) =>
      isTrusted(payload, of === "details" ? ["failure"] : ["heartbeat", "failure"]) ? payload : null,
    ),
    ...(cause ? { cause: depth < CAUSES_MAX ? trustedFailure(cause, onRefused, depth + 1) : null } : {}),
  };
  if (encodedAttributes && isTrusted(encodedAttributes, ["failure"])) return clean;
  // The server's own failures, such as a time-out, have no text of ours.
  if (!encodedAttributes && !applicationFailureInfo) return clean;
  if (!encodedAttributes) onRefused("unsealed");
  const info = applicationFailureInfo
    ? { applicationFailureInfo: { type: FORGED, nonRetryable: applicationFailureInfo.nonRetryable ?? false } }
    : {};
  return { ...clean, ...info, message: FORGED_MESSAGE, stackTrace: "", encodedAttributes: null };
}

/** Applies `change` to every detail of the failure, and leaves out those for which it returns null. */
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

/** The failure that replaces a refused result; it is not retried. */
export function forgedFailure(): Failure {
  return {
    message: FORGED_MESSAGE,
    source: "holdfast",
    stackTrace: "",
    applicationFailureInfo: { type: FORGED, nonRetryable: true },
  };
}
