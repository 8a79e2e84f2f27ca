/** Which parts of a failure are passed on: what was sealed as a failure, and what Temporal itself adds. */
import { defaultPayloadConverter } from "@temporalio/common";
import { expect, test } from "vitest";
import {
  type Failure,
  forgedFailure,
  placedFailure,
  trustedFailure,
} from "../../../src/domain/payloads/failures.ts";
import { type PayloadKind, opened } from "../../../src/domain/payloads/places.ts";

const sealedAs = (kind: PayloadKind) =>
  opened(defaultPayloadConverter.toPayload({ message: "text" }), {
    form: "bound",
    place: { kind, name: "", slot: "1/1" },
  });
const application = { type: "internal", nonRetryable: false };

function trusted(failure: Failure): { failure: Failure; refused: string[] } {
  const refused: string[] = [];
  return { failure: trustedFailure(failure, (refusal) => refused.push(refusal)), refused };
}

test("what was sealed as a failure stays as it is", () => {
  const payload = sealedAs("failure");
  const failure = {
    message: "Encoded failure",
    encodedAttributes: payload,
    applicationFailureInfo: { ...application, details: { payloads: [payload] } },
  };
  expect(trusted(failure)).toEqual({ failure, refused: [] });
});

test("what Temporal says itself stays too, with the activity's last heartbeat", () => {
  const failure = {
    message: "activity error",
    activityFailureInfo: { activityId: "1" },
    cause: {
      message: "activity Heartbeat timeout",
      timeoutFailureInfo: { timeoutType: 4, lastHeartbeatDetails: { payloads: [sealedAs("heartbeat")] } },
    },
  };
  expect(trusted(failure)).toEqual({ failure, refused: [] });
});

test.each(["activity-result", "heartbeat", "input", "note"] as const)(
  "a %s is no text of a failure",
  (kind) => {
    const { failure, refused } = trusted({
      message: "Encoded failure",
      encodedAttributes: sealedAs(kind),
      applicationFailureInfo: { ...application, details: { payloads: [sealedAs(kind)] } },
    });
    expect(refused).toEqual(["moved", "moved"]);
    expect(failure).toMatchObject({
      message: "A payload was not sealed for this place.",
      encodedAttributes: null,
      applicationFailureInfo: { type: "forged" },
    });
    expect(failure.applicationFailureInfo?.details).toBeUndefined();
  },
);

test("a text that was not sealed at all does not go on, also as a cause", () => {
  const { failure, refused } = trusted({
    message: "activity error",
    activityFailureInfo: {},
    cause: { message: "believe me", stackTrace: "here", applicationFailureInfo: application },
  });
  expect(refused).toEqual(["unsealed"]);
  expect(JSON.stringify(failure)).not.toMatch(/believe me|here/);
});

test("a chain of causes without an end is cut off", () => {
  let failure: Failure = forgedFailure();
  for (let depth = 0; depth < 10_000; depth += 1) failure = { message: "again", cause: failure };
  const depthOf = (one: Failure): number => (one.cause ? 1 + depthOf(one.cause) : 0);
  expect(depthOf(trusted(failure).failure)).toBeLessThan(30);
  expect(depthOf(placedFailure(failure))).toBeLessThan(30);
});
