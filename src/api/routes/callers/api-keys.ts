/** The caller's own API keys. */
import { issueKey } from "../../../commands/keys/issue-key.ts";
import { revokeKey } from "../../../commands/keys/revoke-key.ts";
import { rollKey } from "../../../commands/keys/roll-key.ts";
import { listApiKeys } from "../../../db/keys/api-keys.ts";
import { pageOf } from "../../../schema/fields.ts";
import {
  ApiKeyCreate,
  ApiKeyCreated,
  ApiKeyPage,
  ApiKeyQuery,
  ApiKeyRoll,
  DEFAULT_OVERLAP_SECONDS,
} from "../../../schema/key.ts";
import { defineRoute } from "../../route.ts";

const listOwnKeys = defineRoute("GET /me/api-keys", {
  operation: "api_keys.list",
  access: "jwt",
  audit: { action: "api_keys:read", resource: "api_key" },
  summary: "List the caller's API keys, revoked ones too.",
  description:
    "Keys that admins made for the caller are among them. No text of a key is shown, only its prefix.",
  query: ApiKeyQuery,
  response: ApiKeyPage,
  async handle({ principal, read, query }) {
    const search = { ...query, organizationId: principal.organization.id, userId: principal.user.id };
    return pageOf(await read((sql) => listApiKeys(sql, search, query)), query);
  },
});

const createOwnKey = defineRoute("POST /me/api-keys", {
  operation: "api_keys.create",
  access: "jwt",
  audit: { action: "api_keys:create", resource: "api_key" },
  status: 201,
  summary: "Make an API key; its text is shown only in this answer.",
  description:
    "The key acts for the caller: it reaches what the caller reaches at the time of each request, or " +
    "less as `spaces`, `capabilities` and `allowed_cidrs` narrow it. Its text is in this answer alone. " +
    "A space out of reach is 404. Sending it twice makes two.",
  body: ApiKeyCreate,
  response: ApiKeyCreated,
  replyHeaders: { "Cache-Control": "no-store" },
  errors: [404],
  async handle({ deps, caller, body, reply }) {
    reply.header("Cache-Control", "no-store");
    return issueKey(deps, caller, {
      member: null,
      name: body.name,
      spaces: body.spaces ?? null,
      capabilities: body.capabilities ?? null,
      expiresAt: body.expires_at ?? null,
      allowedCidrs: body.allowed_cidrs ?? null,
    });
  },
});

const revokeOwnKey = defineRoute("DELETE /me/api-keys/:api_key_id", {
  operation: "api_keys.revoke",
  access: "jwt",
  audit: { action: "api_keys:revoke", resource: "api_key" },
  status: 204,
  summary: "Revoke one of the caller's API keys; it is refused everywhere within 5 seconds.",
  description:
    "It is refused everywhere within 5 seconds, with both its texts if it was rolled. That cannot be " +
    "undone. Asking again changes nothing.",
  async handle({ deps, caller, params }) {
    await revokeKey(deps, caller, { id: params.api_key_id, asAdminOf: null });
  },
});

const rollOwnKey = defineRoute("POST /me/api-keys/:api_key_id/roll", {
  operation: "api_keys.roll",
  access: "jwt",
  audit: { action: "api_keys:roll", resource: "api_key" },
  status: 201,
  summary:
    "Give one of the caller's API keys a new text, shown only in this answer; " +
    "the one of before is accepted for a while.",
  description:
    "All else of the key stays: its id, spaces, capabilities, addresses and budget. Revoking it revokes " +
    "both texts. At most 20 times a day, then 429.",
  body: ApiKeyRoll,
  response: ApiKeyCreated,
  replyHeaders: { "Cache-Control": "no-store" },
  async handle({ deps, caller, params, body, reply }) {
    reply.header("Cache-Control", "no-store");
    return rollKey(deps, caller, {
      id: params.api_key_id,
      asAdminOf: null,
      overlapSeconds: body?.overlap_seconds ?? DEFAULT_OVERLAP_SECONDS,
      expiresAt: body?.expires_at ?? null,
    });
  },
});

export const ownKeyRoutes = [listOwnKeys, createOwnKey, revokeOwnKey, rollOwnKey];
