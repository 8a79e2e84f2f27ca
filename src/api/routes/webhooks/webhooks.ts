/** Webhooks: endpoints that events are delivered to, of a space's owners or an organization's admins. */
import { reachFor } from "../../../auth/policy.ts";
import { createWebhook } from "../../../commands/webhooks/create-webhook.ts";
import { deleteWebhook } from "../../../commands/webhooks/delete-webhook.ts";
import { rollWebhookSecret } from "../../../commands/webhooks/roll-webhook-secret.ts";
import { updateWebhook } from "../../../commands/webhooks/update-webhook.ts";
import { authorizeWebhook, webhookEtag } from "../../../commands/webhooks/webhook.ts";
import { readTenant } from "../../../db/pool.ts";
import { findWebhook, listWebhooks } from "../../../db/webhooks/records.ts";
import { pageOf } from "../../../schema/fields.ts";
import {
  DEFAULT_SECRET_OVERLAP_SECONDS,
  Webhook,
  WebhookCreate,
  WebhookCreated,
  WebhookPage,
  WebhookPatch,
  WebhookQuery,
  WebhookSecretRoll,
} from "../../../schema/webhook.ts";
import { defineRoute } from "../../route.ts";

const ETAG = { ETag: "Changes with the webhook; for If-Match" };
const IF_MATCH = { "If-Match": "The ETag that GET gave; 412 where the webhook has changed since" };
const NO_STORE = { "Cache-Control": "no-store" };

const getWebhooks = defineRoute("GET /webhooks", {
  operation: "webhooks.list",
  access: "jwt",
  audit: { action: "webhooks:read", resource: "webhook" },
  summary: "List the webhooks that the caller may manage, newest first.",
  description: "Owners see those of their spaces, admins also those of the organization. No secret is shown.",
  query: WebhookQuery,
  response: WebhookPage,
  async handle({ deps, principal, query }) {
    const { organization } = principal;
    const managed = [...reachFor(principal, "webhooks:manage").keys()];
    const search = {
      organizationId: organization.id,
      spaceIds: query.space_id === undefined ? managed : managed.filter((id) => id === query.space_id),
      withOrganization: organization.role === "admin" && query.space_id === undefined,
      status: query.status ?? null,
    };
    return pageOf(await readTenant(deps.db, organization, (sql) => listWebhooks(sql, search, query)), query);
  },
});

const postWebhook = defineRoute("POST /webhooks", {
  operation: "webhooks.create",
  access: "jwt",
  audit: { action: "webhooks:create", resource: "webhook" },
  status: 201,
  summary: "Create a webhook; its secret is shown only in this response.",
  description:
    "For a space its owners make it, for the organization its admins. It gets the events that " +
    "its maker may see, checked at each delivery; that of an organization gets none of private " +
    "spaces.",
  body: WebhookCreate,
  response: WebhookCreated,
  replyHeaders: NO_STORE,
  errors: [400, 404],
  async handle({ deps, caller, body, reply }) {
    reply.header("Cache-Control", "no-store");
    return createWebhook(deps, caller, {
      spaceId: body.space_id ?? null,
      url: body.url,
      types: body.types ?? [],
      description: body.description ?? null,
    });
  },
});

const getWebhook = defineRoute("GET /webhooks/:webhook_id", {
  operation: "webhooks.get",
  access: "jwt",
  audit: { action: "webhooks:read", resource: "webhook" },
  summary: "One webhook.",
  description:
    "For owners of its space, and of a webhook of the organization for its admins. The `ETag` is " +
    "for `If-Match` of a change; no secret is shown.",
  response: Webhook,
  replyHeaders: ETAG,
  async handle({ principal, read, params, reply }) {
    const webhook = await read((sql) => findWebhook(sql, principal.organization.id, params.webhook_id));
    authorizeWebhook(principal, webhook);
    reply.header("ETag", webhookEtag(webhook));
    return webhook;
  },
});

const patchWebhook = defineRoute("PATCH /webhooks/:webhook_id", {
  operation: "webhooks.update",
  access: "jwt",
  audit: { action: "webhooks:update", resource: "webhook" },
  summary: "Change, pause or resume a webhook.",
  description:
    "Events that come while it is paused are delivered when it is active again. Only its maker " +
    "changes the URL, and nobody the space.",
  body: WebhookPatch,
  response: Webhook,
  headers: IF_MATCH,
  replyHeaders: ETAG,
  errors: [400, 412],
  async handle({ deps, caller, params, body, request, reply }) {
    const { space_id: spaceId, url, types, description, status } = body;
    const webhook = await updateWebhook(deps, caller, {
      id: params.webhook_id,
      ifMatch: request.headers["if-match"],
      change: { spaceId, url, types, description, status },
    });
    reply.header("ETag", webhookEtag(webhook));
    return webhook;
  },
});

const removeWebhook = defineRoute("DELETE /webhooks/:webhook_id", {
  operation: "webhooks.delete",
  access: "jwt",
  audit: { action: "webhooks:delete", resource: "webhook" },
  status: 204,
  summary: "Delete a webhook.",
  description:
    "For owners of its space, and of a webhook of the organization for its admins. Nothing is " +
    "delivered to it from now on.",
  headers: IF_MATCH,
  errors: [412],
  async handle({ deps, caller, params, request }) {
    await deleteWebhook(deps, caller, { id: params.webhook_id, ifMatch: request.headers["if-match"] });
  },
});

const rollSecret = defineRoute("POST /webhooks/:webhook_id/secret/roll", {
  operation: "webhooks.roll_secret",
  access: "jwt",
  audit: { action: "webhooks:roll_secret", resource: "webhook" },
  status: 201,
  summary:
    "Roll a webhook's secret. The new one is shown only in this response; the previous one also " +
    "signs for a while.",
  description: "Only its maker may. During the overlap each delivery has a signature of each secret.",
  body: WebhookSecretRoll,
  response: WebhookCreated,
  replyHeaders: NO_STORE,
  async handle({ deps, caller, params, body, reply }) {
    reply.header("Cache-Control", "no-store");
    return rollWebhookSecret(deps, caller, {
      id: params.webhook_id,
      overlapSeconds: body?.overlap_seconds ?? DEFAULT_SECRET_OVERLAP_SECONDS,
    });
  },
});

export const webhookRoutes = [getWebhooks, postWebhook, getWebhook, patchWebhook, removeWebhook, rollSecret];
