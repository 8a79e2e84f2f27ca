/** What outcomes change of deliveries and of their endpoint. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { updateWebhook } from "../../../../src/commands/webhooks/update-webhook.ts";
import { type Outcome, writeOutcomes } from "../../../../src/db/webhooks/delivery/outcomes.ts";
import { beginRound } from "../../../../src/db/webhooks/delivery/round.ts";
import { type Delivering, startDelivering } from "../../../support/events/delivering.ts";
import { type Receiver, startReceiver } from "../../../support/events/receiver.ts";
import { type TestDatabase, createTestDatabase } from "../../../support/servers/database.ts";
import { loggedIn } from "../../../support/tenants/commands.ts";
import { NOTHING, webhookParts } from "../../../support/tenants/webhooks.ts";

let database: TestDatabase;
let receiver: Receiver;
let world: Delivering;
let webhook: string;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  receiver = await startReceiver();
  world = await startDelivering(database.db);
  webhook = await world.endpoint({ url: receiver.url });
});
afterEach(async () => {
  world.close();
  await receiver.close();
});

const owner = (text: string) => database.db.owner.query(text, [webhook]);

/** Three deliveries that have failed, and whose next attempt is hours away. */
async function failThree(): Promise<void> {
  receiver.answer((response) => response.writeHead(500).end());
  for (let count = 0; count < 3; count += 1) await world.tell("organization.updated");
  await world.step(webhook);
  await owner(
    `update webhook_deliveries
     set next_attempt_at = now() + interval '8 hours',
         last_attempt_at = now() - interval '1 hour'
     where webhook_id = $1`,
  );
  receiver.answer((response) => response.writeHead(204).end());
}

const isDelivered = async (): Promise<boolean> =>
  (await world.rows(webhook)).every(({ status }) => status === "delivered");

test("an outcome that comes late changes nothing of a delivery that has one", async () => {
  await world.tell("organization.updated");
  const round = await beginRound(database.db, world.organization, webhook, 1);
  if (round.type !== "send") throw new Error(`the round is ${round.type}`);
  const made = { deliveryId: round.due[0]!.id, attempts: 0, retryAfterMs: null, durationMs: 1 };
  const delivered: Outcome = { ...made, result: "delivered", code: null, httpStatus: 204 };
  const failed: Outcome = { ...made, result: "failed", code: "status_500", httpStatus: 500 };

  for (const outcome of [delivered, failed])
    await writeOutcomes(database.db, world.organization, round.endpoint, [outcome]);

  expect(await world.rows(webhook)).toMatchObject([{ status: "delivered", attempts: 1, http_status: 204 }]);
});

test("after an endpoint is made active again its first success makes all due that had failed", async () => {
  await failThree();
  await owner(
    `update webhooks
     set status_changed_at = now(), failures = 0, failing_since = null, next_attempt_at = null
     where id = $1`,
  );
  await world.tell("organization.updated");

  expect(await world.run(webhook)).toBe(0);

  expect(await isDelivered()).toBe(true);
});

test("who makes an endpoint active again, or gives it another URL, need not wait for what had failed", async () => {
  await failThree();
  await owner("update webhooks set status = 'paused', status_reason = 'failing' where id = $1");
  const caller = await loggedIn(database.db, world.organization, world.maker);
  const change = { ...NOTHING, status: "active" } as const;
  await updateWebhook(webhookParts(database.db), caller, { id: webhook, ifMatch: undefined, change });

  expect(await world.run(webhook)).toBe(0);

  expect(await isDelivered()).toBe(true);
});
