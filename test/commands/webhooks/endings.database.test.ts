import { beforeEach, describe, expect, it } from "vitest";
import type { Caller } from "../../../src/commands/caller.ts";
import { removeMember } from "../../../src/commands/members/remove-member.ts";
import { deleteSpace } from "../../../src/commands/spaces/delete-space.ts";
import { createWebhook } from "../../../src/commands/webhooks/create-webhook.ts";
import { deleteWebhook } from "../../../src/commands/webhooks/delete-webhook.ts";
import type { OrganizationRef } from "../../../src/db/pool.ts";
import { deleteExpired } from "../../../src/db/upkeep/retention.ts";
import { makeOrganization, makeSpace, makeUser } from "../../support/tenants/callers.ts";
import { auditOf, commandDatabase, loggedIn } from "../../support/tenants/commands.ts";
import { eventsOf, storedWebhook, webhookParts } from "../../support/tenants/webhooks.ts";

const test = commandDatabase();
const URL_OF = "https://receiver.example/hook";
let organization: OrganizationRef;
let spaceId: string;
let webhookId: string;
/** Owns the space and made the webhook. */
let owner: Caller;
let admin: Caller;
let parts: ReturnType<typeof webhookParts>;

beforeEach(async () => {
  parts = webhookParts(test.db);
  organization = await makeOrganization(test.db);
  const ownerId = await makeUser(test.db, organization);
  const adminId = await makeUser(test.db, organization, { role: "admin" });
  spaceId = await makeSpace(test.db, organization, [[ownerId, "owner"]]);
  owner = await loggedIn(test.db, organization, ownerId);
  admin = await loggedIn(test.db, organization, adminId);
  webhookId = (await createWebhook(parts, owner, wanted())).id;
});

const wanted = () => ({ spaceId, url: URL_OF, types: [], description: null });
const remove = (caller: Caller) => deleteWebhook(parts, caller, { id: webhookId, ifMatch: undefined });

describe("the end of what a webhook depends on", () => {
  it("a deleted space takes its webhooks with it, and their secrets", async () => {
    await deleteSpace(parts, owner, { id: spaceId, ifMatch: undefined });

    expect(await storedWebhook(test.db, webhookId)).toMatchObject({
      status: "disabled",
      status_reason: "deleted",
      secret: null,
      previous: null,
    });
    await expect(remove(owner)).rejects.toMatchObject({ code: "not_found" });
  });

  it("a member who is removed leaves webhooks that are paused, each with an audit row and an event", async () => {
    const userId = owner.principal.user.id;
    await removeMember(parts, admin, { organizationId: organization.id, userId });

    expect(await storedWebhook(test.db, webhookId)).toMatchObject({
      status: "paused",
      status_reason: "reach_lost",
    });
    expect(await auditOf(test.db, admin)).toMatchObject([
      { action: "members:delete" },
      { action: "webhooks:pause", resource_id: webhookId, space_id: spaceId },
    ]);
    expect((await eventsOf(test.db, admin)).map(({ type }) => type)).toEqual([
      "key.revoked",
      "member.removed",
      "webhook.paused",
    ]);
  });
});

it("a deleted webhook is purged with its deliveries after a day, and no other", async () => {
  const kept = await createWebhook(parts, owner, wanted());
  await remove(owner);
  const left = async () =>
    (await test.db.owner.query("select id from webhooks where organization_id = $1", [organization.id])).rows;

  await deleteExpired(test.db);
  expect(await left()).toHaveLength(2);
  await test.db.owner.query("update webhooks set deleted_at = now() - interval '2 days' where id = $1", [
    webhookId,
  ]);
  await deleteExpired(test.db);

  expect(await left()).toEqual([{ id: kept.id }]);
});

describe("how many there may be", () => {
  it("is bounded for a user", async () => {
    await test.db.owner.query(
      `insert into webhooks (id, organization_id, created_by, url, secret_key_id, sealed_secret, position)
       select gen_random_uuid(), $1, $2, '${URL_OF}', gen_random_uuid(), '', 0
       from generate_series(1, 99)`,
      [organization.id, owner.principal.user.id],
    );

    await expect(createWebhook(parts, owner, wanted())).rejects.toMatchObject({
      code: "bad_request",
      message: "A user may have at most 100 webhooks",
    });
    await remove(owner);
    await expect(createWebhook(parts, owner, wanted())).resolves.toMatchObject({ status: "active" });
  });
});
