/** The activity of an endpoint's workflow: delivers a batch after the other, until nothing is due. */
import { Context } from "@temporalio/activity";
import type { Database } from "../../db/pool.ts";
import type { Endpoint } from "../../db/webhooks/delivery/endpoint.ts";
import { writeOutcomes } from "../../db/webhooks/delivery/outcomes.ts";
import { type EndReason, type Round, beginRound, hasNewEvents } from "../../db/webhooks/delivery/round.ts";
import type { WebhookInput, WebhookStep } from "../../domain/work/webhook.ts";
import type { Poster } from "../../outbound/poster.ts";
import type { Log } from "../../process/log.ts";
import { encodeEvent } from "../../schema/event.ts";
import type { Keyring } from "../../storage/keys/keyring.ts";
import { openWebhookSecret } from "../../storage/keys/webhook-secret.ts";
import { drillPoint } from "../../telemetry/drill-point.ts";
import { webhookAttempts } from "../../telemetry/instruments.ts";
import { withHeartbeat } from "../heartbeat.ts";
import { attemptAll, type Send } from "./attempts.ts";
import { signedHeaders } from "./signature.ts";

export interface DeliveryDeps {
  readonly db: Database;
  readonly log: Pick<Log, "warn">;
  readonly keyring: Keyring;
  readonly poster: Poster;
}

/** After this time no further attempt begins, so that an activity stays short. */
const TIME_BOX_MS = 20_000;
/** So old may the rights, the address and the state be by which an attempt is made: as those of a key. */
const ROUND_MS = 4_000;
/** Few enough that little is repeated if the process dies before their outcomes are written. */
const DELIVERIES_A_BATCH = 128;

/**
 * Idempotent but for what it sends: an attempt whose outcome was not written is repeated under the same id.
 */
export async function deliverWebhook(deps: DeliveryDeps, input: WebhookInput): Promise<WebhookStep> {
  return withHeartbeat(() => deliver(deps, input));
}

async function deliver(deps: DeliveryDeps, input: WebhookInput): Promise<WebhookStep> {
  const { cancellationSignal } = Context.current();
  const endsAt = Date.now() + TIME_BOX_MS;
  const isOver = (): boolean => cancellationSignal.aborted || Date.now() >= endsAt;
  while (!isOver()) {
    const roundEndsAt = Date.now() + ROUND_MS;
    const isRoundOver = (): boolean => isOver() || Date.now() >= roundEndsAt;
    const round = await beginRound(deps.db, input.organization, input.webhookId, DELIVERIES_A_BATCH);
    if (round.type === "again") continue;
    if (round.type !== "send") return stepAfter(deps, input, round);
    await drillPoint("webhookDelivery: deliveries made, none sent");
    const send = await createSend(deps, round.endpoint, isRoundOver);
    const outcomes = await attemptAll(round.due, { send, isOver: isRoundOver });
    await drillPoint("webhookDelivery: sent, outcome not written");
    const ended = await writeOutcomes(deps.db, input.organization, round.endpoint, outcomes);
    await drillPoint("webhookDelivery: outcome written, workflow not told");
    reportEnd(deps, input, ended);
  }
  return { state: "again" };
}

async function stepAfter(
  deps: DeliveryDeps,
  input: WebhookInput,
  round: Exclude<Round, { type: "send" | "again" }>,
): Promise<WebhookStep> {
  if (round.type === "ended") {
    reportEnd(deps, input, round.ended);
    return { state: "rest" };
  }
  if (await hasNewEvents(deps.db, input.organization, input.webhookId)) return { state: "again" };
  return round.waitMs === null ? { state: "rest" } : { state: "waiting", waitMs: round.waitMs };
}

/** Tells operators, who may know why a receiver is down. */
function reportEnd(
  { log }: DeliveryDeps,
  { organization, webhookId }: WebhookInput,
  ended: EndReason | null,
) {
  if (ended === null) return;
  log.warn(
    { organization_id: organization.id, webhook_id: webhookId, reason: ended },
    ended === "gone" ? "a webhook was disabled" : "a webhook was paused",
  );
}

async function createSend(
  { keyring, poster }: DeliveryDeps,
  { id, url, signers, viewer }: Endpoint,
  isOver: () => boolean,
): Promise<Send> {
  const place = { organizationId: viewer.organizationId, webhookId: id };
  const secrets = await Promise.all(signers.map((signer) => openWebhookSecret(keyring, place, signer)));
  return async (delivery) => {
    const { event, attempts } = delivery;
    const made = { deliveryId: delivery.id, attempts };
    if (event === null)
      return {
        ...made,
        result: "skipped",
        code: delivery.skippedFor,
        httpStatus: null,
        retryAfterMs: null,
        durationMs: null,
      };
    const body = encodeEvent(event);
    const headers = {
      "content-type": "application/json",
      "user-agent": "Holdfast",
      ...signedHeaders(secrets, { id: event.id, timestamp: Math.floor(Date.now() / 1_000), body }),
    };
    const startedAt = performance.now();
    const answer = await poster.post({ owner: viewer.callerId, url, headers, body }, isOver);
    if (answer === undefined) return undefined;
    const { status, failure, retryAfterMs } = answer;
    const durationMs = Math.round(performance.now() - startedAt);
    webhookAttempts.observe({ outcome: outcomeClass(failure) }, durationMs / 1_000);
    return {
      ...made,
      result: failure === null ? "delivered" : "failed",
      code: failure,
      httpStatus: status,
      retryAfterMs,
      durationMs,
    };
  };
}

/** Few values, whatever receivers answer. */
function outcomeClass(failure: string | null): string {
  return failure === null ? "delivered" : failure.replace(/^(status_\d)\d+$/, "$1xx");
}
