import { randomBytes } from "node:crypto";
import { beforeEach, expect, it } from "vitest";
import { resealWebhookSecrets } from "../../../src/activities/operations/reseal-webhook-secrets.ts";
import type { Caller } from "../../../src/commands/caller.ts";
import { createWebhook } from "../../../src/commands/webhooks/create-webhook.ts";
import { rollWebhookSecret } from "../../../src/commands/webhooks/roll-webhook-secret.ts";
import { deleteKeysBefore, findCurrentKey, replaceOrganizationKey } from "../../../src/db/encryption/keys.ts";
import { countSecretsOfOldKeys } from "../../../src/db/encryption/webhook-secrets.ts";
import { inTenant, type OrganizationRef } from "../../../src/db/pool.ts";
import { newId } from "../../../src/domain/ids.ts";
import { localMasterKey, organizationKeyAad } from "../../../src/storage/keys/keyring.ts";
import { openWebhookSecret } from "../../../src/storage/keys/webhook-secret.ts";
import { makeOrganization, makeUser } from "../../support/tenants/callers.ts";
import { commandDatabase, loggedIn } from "../../support/tenants/commands.ts";
import { storedWebhook, webhookParts } from "../../support/tenants/webhooks.ts";

const test = commandDatabase();
let organization: OrganizationRef;
let webhookId: string;
let admin: Caller;
let secrets: { readonly current: string; readonly previous: string };
let parts: ReturnType<typeof webhookParts>;

beforeEach(async () => {
  parts = webhookParts(test.db);
  organization = await makeOrganization(test.db);
  admin = await loggedIn(test.db, organization, await makeUser(test.db, organization, { role: "admin" }));
  const wanted = { spaceId: null, url: "https://receiver.example/", types: [], description: null };
  const made = await createWebhook(parts, admin, wanted);
  webhookId = made.id;
  const rolled = await rollWebhookSecret(parts, admin, { id: made.id, overlapSeconds: 60 });
  secrets = { current: rolled.secret, previous: made.secret };
});

/** Makes a new key the current one. @returns its id. */
async function rotate(): Promise<string> {
  const master = localMasterKey(Buffer.alloc(32, 1));
  const id = newId();
  const wrapped = await master.wrap(randomBytes(32), organizationKeyAad(organization.id, id));
  await replaceOrganizationKey(test.db, organization.id, master.id, { id, wrapped });
  parts.keyring.forget(organization.id);
  return (await findCurrentKey(test.db, organization.id))!.id;
}

const oldSecrets = () =>
  inTenant(test.db, organization, (sql) => countSecretsOfOldKeys(sql, organization.id));

it("secrets open after the older keys are destroyed, and until then the keys are needed", async () => {
  const keyId = await rotate();
  expect(await oldSecrets()).toBe(1);

  await resealWebhookSecrets(parts, organization, keyId);
  expect(await oldSecrets()).toBe(0);
  await deleteKeysBefore(test.db, organization.id, keyId);
  parts.keyring.forget(organization.id);

  const { secret, previous } = await storedWebhook(test.db, webhookId);
  const place = { organizationId: organization.id, webhookId };
  expect(await openWebhookSecret(parts.keyring, place, secret)).toBe(secrets.current);
  expect(await openWebhookSecret(parts.keyring, place, previous!)).toBe(secrets.previous);
});

it("the secret before a roll keeps its key too", async () => {
  const keyId = await rotate();
  await rollWebhookSecret(parts, admin, { id: webhookId, overlapSeconds: 60 });
  expect(await oldSecrets()).toBe(1);

  await resealWebhookSecrets(parts, organization, keyId);

  expect(await oldSecrets()).toBe(0);
});

it("a secret that signs no more is deleted, and one that is damaged keeps its key", async () => {
  await test.db.owner.query(
    "update webhooks set previous_until = now() - interval '1 second', sealed_secret = '\\x00' where id = $1",
    [webhookId],
  );

  await resealWebhookSecrets(parts, organization, await rotate());

  expect((await storedWebhook(test.db, webhookId)).previous).toBeNull();
  expect(await oldSecrets()).toBe(1);
});
