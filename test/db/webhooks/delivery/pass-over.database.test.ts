/** Which endpoints are started for an event, and which pass over it. */
import type { Client } from "@temporalio/client";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { passOverEvents } from "../../../../src/db/webhooks/delivery/pass-over.ts";
import { createWebhookStarter } from "../../../../src/dispatch/start-webhooks.ts";
import { type Delivering, startDelivering } from "../../../support/events/delivering.ts";
import { type TestDatabase, createTestDatabase } from "../../../support/servers/database.ts";
import { makeSpace } from "../../../support/tenants/callers.ts";

const url = "https://receiver.example";
let database: TestDatabase;
let world: Delivering;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  world = await startDelivering(database.db);
});

const space = () => makeSpace(database.db, world.organization, [[world.maker, "owner"]]);
const pass = () => passOverEvents(database.db.system, world.organization.id);

/** Who is started, of those that the organization has. */
async function started(): Promise<string[]> {
  const workflowIds: string[] = [];
  const client = {
    connection: { withDeadline: (_deadline: number, call: () => Promise<unknown>) => call() },
    workflow: {
      signalWithStart: async (_type: string, { workflowId }: { workflowId: string }) =>
        void workflowIds.push(workflowId),
    },
  } as unknown as Client;
  const log = { warn: (fields: object) => expect(fields).toBe("no warning") };
  await createWebhookStarter({ db: database.db, client, log }).run(world.organization.id);
  return workflowIds.map((id) => id.split("/").at(-1)!).toSorted();
}

async function behind(): Promise<string[]> {
  const { rows } = await database.db.owner.query<{ id: string }>(
    `select webhook.id
     from webhooks webhook
     join event_positions log using (organization_id)
     where webhook.organization_id = $1
       and webhook.position < log.last_position`,
    [world.organization.id],
  );
  return rows.map(({ id }) => id).toSorted();
}

test("an event starts those whom it may concern, and the others go to the end of the log", async () => {
  const [here, there] = [await space(), await space()];
  const concerned = [
    await world.endpoint({ url }),
    await world.endpoint({ url, spaceId: here }),
    await world.endpoint({ url, spaceId: here, types: ["document.failed", "document.completed"] }),
  ].toSorted();
  await world.endpoint({ url, spaceId: there });
  await world.endpoint({ url, types: ["agent.created"] });
  await world.tell("document.completed", { spaceId: here });
  expect(await started()).toEqual(concerned);
  expect(await behind()).toEqual(concerned);
});

test("events of several spaces start those whose space is the only one", async () => {
  const [here, there] = [await space(), await space()];
  const webhook = await world.endpoint({ url, spaceId: here });
  await world.tell("batch.completed", { audience: "own", spaceIds: [here, there] });
  expect(await started()).toEqual([]);
  await world.tell("batch.completed", { audience: "own", spaceIds: [here] });
  expect(await started()).toEqual([webhook]);
});

test("a test starts the endpoint that it tests, and no other", async () => {
  const tested = await world.endpoint({ url, types: ["agent.created"] });
  await world.endpoint({ url });
  await world.tell("webhook.test", { resourceId: tested });
  expect(await started()).toEqual([tested]);
});

test("progress starts those who name it, and no others", async () => {
  const spaceId = await space();
  const named = await world.endpoint({ url, types: ["document.progressed"] });
  await world.endpoint({ url });
  await world.tell("document.progressed", { spaceId });
  expect(await started()).toEqual([named]);
});

test("what may have changed its maker's reach starts an endpoint, whatever its types", async () => {
  const webhook = await world.endpoint({ url, types: ["agent.created"] });
  await world.tell("member.updated");
  expect(await started()).toEqual([webhook]);
});

test("an event behind one that is not for it starts an endpoint that has not seen either", async () => {
  const webhook = await world.endpoint({ url, types: ["agent.created"] });
  await world.tell("agent.created");
  await world.tell("agent.deleted");
  expect(await started()).toEqual([webhook]);
});

test("those that are busy, and those of which a stretch of the log has expired, keep their place", async () => {
  const types = ["agent.created"];
  const busy = await world.endpoint({ url, types });
  const late = await world.endpoint({ url, types });
  await world.tell("agent.deleted");
  const { owner } = database.db;
  await owner.query("update webhooks set is_resting = false where id = $1", [busy]);
  await owner.query("update webhooks set position = -1 where id = $1", [late]);
  await pass();
  expect(await behind()).toEqual([busy, late].toSorted());
});
