/** Events of uploads reach an endpoint of a running service, and its workflow ends when all is delivered. */
import { Webhook } from "standardwebhooks";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { loadConfig, requireReal } from "../../src/config/config.ts";
import { openSharedDeps, type SharedDeps } from "../../src/deps.ts";
import { webhookWorkflowId } from "../../src/domain/work/workflow-ids.ts";
import { ended, upload } from "../support/clients/client.ts";
import { makeEndpoint, newSecret } from "../support/events/endpoints.ts";
import { type Receiver, startReceiver } from "../support/events/receiver.ts";
import { onSharedStack } from "../support/stack/shared-stack.ts";
import { until } from "../support/until.ts";

interface ReceivedEvent {
  readonly type: string;
  readonly resource: { readonly id: string };
}

const { stack, tenants } = onSharedStack();
let deps: SharedDeps;
// One for each attempt of the test, because the endpoint of the attempt before goes on delivering.
let receiver: Receiver;

beforeAll(async () => {
  deps = await openSharedDeps(requireReal(loadConfig(stack.env)), "test");
});
afterAll(() => deps.close());
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(() => receiver.close());

test("the events of a document arrive in order, signed, and nothing of them is in Temporal", async () => {
  const secret = newSecret();
  const { rows } = await stack.database.db.owner.query<{ id: string }>(
    "select user_id as id from space_members where space_id = $1 and role = 'owner'",
    [tenants.spaces.research],
  );
  // An endpoint begins at the log's end, and what made the tenant may not have its place in the log yet.
  await until("the events before have been placed", async () => {
    const { rows: unplaced } = await stack.database.db.owner.query(
      "select from events where organization_id = $1 and position is null limit 1",
      [tenants.acme],
    );
    return unplaced.length === 0;
  });
  const webhookId = await makeEndpoint(stack.database.db, deps.keyring, {
    organizationId: tenants.acme,
    createdBy: rows[0]!.id,
    url: receiver.url,
    spaceId: tenants.spaces.research,
    secret,
  });
  const key = tenants.keys.editor;
  const document = await upload(stack.url, key, tenants.spaces.research, "# Words\n\nThat are told of.");
  await ended(stack.url, key, document.id);
  const arrived = await until("the document's end arrives", async () => {
    const events = receiver.received.map(({ body, headers }) =>
      new Webhook(secret).verify(body, headers as Record<string, string>),
    ) as ReceivedEvent[];
    return events.some(({ type }) => type === "document.completed") ? events : undefined;
  });
  expect(arrived.map(({ type, resource }) => [type, resource.id])).toEqual([
    ["document.uploaded", document.id],
    ["document.completed", document.id],
  ]);
  const handle = deps.temporal.workflow.getHandle(webhookWorkflowId(tenants.acme, webhookId));
  await until("the workflow has ended", async () => (await handle.describe()).status.name === "COMPLETED");
  const { searchAttributes } = await handle.describe();
  expect(searchAttributes).toMatchObject({
    OrganizationId: [tenants.acme],
    SpaceId: [tenants.spaces.research],
    Trigger: ["webhook"],
    Stage: ["done"],
  });
  const history = JSON.stringify(await handle.fetchHistory());
  expect(history).not.toContain(document.id);
  expect(history).not.toContain(receiver.url);
});
