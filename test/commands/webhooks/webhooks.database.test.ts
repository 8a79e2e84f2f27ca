import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Caller } from "../../../src/commands/caller.ts";
import { createWebhook } from "../../../src/commands/webhooks/create-webhook.ts";
import { deleteWebhook } from "../../../src/commands/webhooks/delete-webhook.ts";
import { redeliverEvent } from "../../../src/commands/webhooks/redeliver-event.ts";
import { replayEvents } from "../../../src/commands/webhooks/replay-events.ts";
import { rollWebhookSecret } from "../../../src/commands/webhooks/roll-webhook-secret.ts";
import { testWebhook } from "../../../src/commands/webhooks/test-webhook.ts";
import { updateWebhook } from "../../../src/commands/webhooks/update-webhook.ts";
import { placeEvents } from "../../../src/db/events/place.ts";
import type { OrganizationRef } from "../../../src/db/pool.ts";
import { newId } from "../../../src/domain/ids.ts";
import { openWebhookSecret } from "../../../src/storage/keys/webhook-secret.ts";
import { makeOrganization, makeSpace, makeUser } from "../../support/tenants/callers.ts";
import {
  auditOf,
  commandDatabase,
  loggedIn,
  refusedAtCommit,
  withKey,
} from "../../support/tenants/commands.ts";
import { requireDescribedEvents } from "../../support/tenants/events.ts";
import {
  deliveryOf,
  eventsOf,
  NOTHING,
  storedWebhook,
  webhookParts,
} from "../../support/tenants/webhooks.ts";

const test = commandDatabase();
const URL_OF = "https://receiver.example/hook";
let organization: OrganizationRef;
let spaceId: string;
let webhookId: string;
let deliveryId: string;
/** Owns the space and made the webhook. */
let owner: Caller;
/** Owns the space too. */
let other: Caller;
let viewer: Caller;
/** Administers the organization, and has no role in the space. */
let admin: Caller;
let parts: ReturnType<typeof webhookParts>;

beforeEach(async () => {
  organization = await makeOrganization(test.db);
  const [ownerId, otherId, viewerId] = await Promise.all(
    [1, 2, 3].map(() => makeUser(test.db, organization)),
  );
  const adminId = await makeUser(test.db, organization, { role: "admin" });
  spaceId = await makeSpace(test.db, organization, [
    [ownerId!, "owner"],
    [otherId!, "owner"],
    [viewerId!, "viewer"],
  ]);
  owner = await loggedIn(test.db, organization, ownerId!);
  other = await loggedIn(test.db, organization, otherId!);
  viewer = await loggedIn(test.db, organization, viewerId!);
  admin = await loggedIn(test.db, organization, adminId);
  parts = webhookParts(test.db);
  const made = { ...owner, requestId: newId() };
  webhookId = (await createWebhook(parts, made, wanted())).id;
  await placeEvents(test.db, organization.id);
  deliveryId = await deliveryOf(test.db, organization, webhookId);
});

afterEach(() => requireDescribedEvents(test.db, organization));

const wanted = () => ({ spaceId, url: URL_OF, types: [], description: null });
const change = (values: object) => (caller: Caller) =>
  updateWebhook(parts, caller, { id: webhookId, ifMatch: undefined, change: { ...NOTHING, ...values } });
const remove = (caller: Caller) => deleteWebhook(parts, caller, { id: webhookId, ifMatch: undefined });
const redeliver = (caller: Caller) => redeliverEvent(parts, caller, { webhookId, deliveryId });
const roll = (overlapSeconds: number) => (caller: Caller) =>
  rollWebhookSecret(parts, caller, { id: webhookId, overlapSeconds });
const hourAgo = () => new Date(Date.now() - 3_600_000).toISOString();
const replay = (caller: Caller) =>
  replayEvents(parts, caller, { webhookId, from: hourAgo(), to: null, types: [] });

/** All that the commands of this folder may change. */
async function written() {
  const { rows } = await test.db.owner.query(
    `select (select jsonb_agg(to_jsonb(webhook) order by id) from webhooks webhook
             where organization_id = $1) as webhooks,
            (select jsonb_agg(to_jsonb(delivery) order by id) from webhook_deliveries delivery
             where organization_id = $1) as deliveries,
            (select count(*)::int from webhook_replays where organization_id = $1) as replays,
            (select count(*)::int from events where organization_id = $1) as events`,
    [organization.id],
  );
  return rows[0];
}

const commands: [string, action: string, events: string[], (caller: Caller) => Promise<unknown>][] = [
  [
    "a new webhook",
    "webhooks:create",
    ["webhook.created"],
    (caller) => createWebhook(parts, caller, wanted()),
  ],
  ["a new type", "webhooks:update", ["webhook.updated"], change({ types: ["document.completed"] })],
  ["a pause", "webhooks:update", ["webhook.paused"], change({ status: "paused" })],
  ["a deletion", "webhooks:delete", ["webhook.deleted"], remove],
  ["a test", "webhooks:test", ["webhook.test"], (caller) => testWebhook(parts, caller, { id: webhookId })],
  ["a second delivery", "webhooks:redeliver", [], redeliver],
  ["a replay", "webhooks:replay", [], replay],
  ["a new secret", "webhooks:roll_secret", ["webhook.updated"], roll(60)],
];

describe.each(commands)("%s", (_, action, events, command) => {
  it("writes one audit row and its event, both in the space", async () => {
    await command(owner);

    expect(await auditOf(test.db, owner)).toMatchObject([{ action, space_id: spaceId }]);
    expect(await eventsOf(test.db, owner)).toEqual(events.map((type) => ({ type, space_id: spaceId })));
  });

  it("is refused to a viewer of the space, and nothing is written", async () => {
    const before = await written();

    await expect(command(viewer)).rejects.toMatchObject({ code: "permission_denied" });

    expect(await written()).toEqual(before);
    expect(await auditOf(test.db, viewer)).toEqual([]);
    expect(parts.dispatcher.wakeWebhooks).not.toHaveBeenCalled();
  });

  it("does not exist for an admin without a role in the space", async () => {
    await expect(command(admin)).rejects.toMatchObject({ code: "not_found" });
  });

  it("is refused to a key, whoever has it", async () => {
    const before = await written();

    await expect(command(withKey(owner))).rejects.toMatchObject({ code: "permission_denied" });

    expect(await written()).toEqual(before);
  });

  it("leaves neither itself nor an audit row nor an event if the transaction fails", async () => {
    const before = await written();
    const refused = refusedAtCommit(owner);

    await expect(command(refused)).rejects.toThrow("this commit is refused");

    expect(await written()).toEqual(before);
    expect(await auditOf(test.db, refused)).toEqual([]);
    expect(parts.dispatcher.wakeWebhooks).not.toHaveBeenCalled();
  });
});

describe("a webhook of the organization", () => {
  it("is its admins', and not its members'", async () => {
    const { id } = await createWebhook(parts, admin, { ...wanted(), spaceId: null });

    await expect(createWebhook(parts, owner, { ...wanted(), spaceId: null })).rejects.toMatchObject({
      code: "permission_denied",
    });
    await expect(deleteWebhook(parts, owner, { id, ifMatch: undefined })).rejects.toMatchObject({
      code: "permission_denied",
    });
  });

  it("of another organization does not exist", async () => {
    const elsewhere = await makeOrganization(test.db);
    const stranger = await loggedIn(
      test.db,
      elsewhere,
      await makeUser(test.db, elsewhere, { role: "admin" }),
    );

    await expect(remove(stranger)).rejects.toMatchObject({ code: "not_found" });
  });
});

describe("the secret", () => {
  it("opens for its webhook alone, and is in no row as it is", async () => {
    const made = await createWebhook(parts, owner, wanted());
    const { secret } = await storedWebhook(test.db, made.id);

    const text = await openWebhookSecret(
      parts.keyring,
      { organizationId: organization.id, webhookId: made.id },
      secret,
    );
    expect([made.secret, text]).toEqual([text, expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/)]);
    await expect(
      openWebhookSecret(parts.keyring, { organizationId: organization.id, webhookId }, secret),
    ).rejects.toMatchObject({ code: "corrupt" });
    expect(secret.sealed.toString()).not.toContain(made.secret);
  });

  it("of before signs too for the overlap, and not at all without one", async () => {
    const before = (await storedWebhook(test.db, webhookId)).secret;
    const rolled = await roll(60)(owner);
    expect(rolled.overlap_ends_at!.getTime()).toBeGreaterThan(Date.now());
    expect((await storedWebhook(test.db, webhookId)).previous).toEqual(before);

    const again = await roll(0)(owner);
    expect(again.overlap_ends_at).toBeNull();
    expect((await storedWebhook(test.db, webhookId)).previous).toBeNull();
  });
});

it("another owner of the space may pause it, and may not say where it delivers or how it signs", async () => {
  await expect(change({ url: "https://elsewhere.example/" })(other)).rejects.toMatchObject({
    code: "permission_denied",
  });
  await expect(roll(0)(other)).rejects.toMatchObject({ code: "permission_denied" });
  expect(await change({ status: "paused" })(other)).toMatchObject({
    status: "paused",
    status_reason: "by_user",
  });
});

describe("a webhook that is not active", () => {
  it("takes no test, replay or second delivery", async () => {
    await change({ status: "paused" })(owner);

    for (const command of [
      redeliver,
      replay,
      (caller: Caller) => testWebhook(parts, caller, { id: webhookId }),
    ])
      await expect(command(owner)).rejects.toMatchObject({ code: "bad_request" });
  });

  it("begins afresh when it is made active, and its workflow is told", async () => {
    await test.db.owner.query(
      `update webhooks
       set status = 'paused', status_reason = 'failing', failing_since = now(), failures = 9
       where id = $1`,
      [webhookId],
    );

    expect(await change({ status: "active" })(owner)).toMatchObject({
      status: "active",
      status_reason: null,
      failing_since: null,
    });
    expect(parts.dispatcher.wakeWebhooks).toHaveBeenCalledExactlyOnceWith(organization.id);
  });

  it("stays so while its maker has not the role that it needs", async () => {
    await change({ status: "paused" })(owner);
    await test.db.owner.query("update space_members set role = 'editor' where user_id = $1", [
      owner.principal.user.id,
    ]);

    await expect(change({ status: "active" })(other)).rejects.toMatchObject({ code: "bad_request" });
  });
});

it("a change to what it has already writes nothing", async () => {
  const before = await written();

  await change({ url: "https://RECEIVER.example/hook", types: [], status: "active" })(owner);

  expect(await written()).toEqual(before);
  expect(await auditOf(test.db, owner)).toEqual([]);
});

it("its space may be written back, and not be changed", async () => {
  await change({ spaceId, types: ["document.completed"] })(owner);
  const before = await written();

  await expect(change({ spaceId: null, types: [] })(owner)).rejects.toMatchObject({
    problems: [{ loc: ["body", "space_id"], input: null }],
  });

  expect(await written()).toEqual(before);
});

it("a change of what somebody has changed since is refused", async () => {
  await expect(
    updateWebhook(parts, owner, { id: webhookId, ifMatch: '"stale"', change: { ...NOTHING, types: [] } }),
  ).rejects.toMatchObject({ code: "precondition_failed" });
});

describe("a delivery", () => {
  it("that failed is pending and due, as if it had not been tried", async () => {
    expect(await redeliver(owner)).toMatchObject({
      id: deliveryId,
      status: "pending",
      attempts: 0,
      error_code: null,
      http_status: null,
      completed_at: null,
    });
    expect(parts.dispatcher.wakeWebhooks).toHaveBeenCalledExactlyOnceWith(organization.id);
  });

  it("whose event is not kept any more is not sent again", async () => {
    await test.db.owner.query("delete from events where organization_id = $1", [organization.id]);

    await expect(redeliver(owner)).rejects.toMatchObject({ code: "cursor_expired" });
  });
});
