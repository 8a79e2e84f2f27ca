/** API keys of all members of an organization, for its admins. */
import { authorize } from "../../../auth/policy.ts";
import { issueKey } from "../../../commands/keys/issue-key.ts";
import { revokeKey } from "../../../commands/keys/revoke-key.ts";
import { rollKey } from "../../../commands/keys/roll-key.ts";
import { listApiKeys } from "../../../db/keys/api-keys.ts";
import { pageOf } from "../../../schema/fields.ts";
import {
  ApiKeyCreated,
  ApiKeyPage,
  ApiKeyRoll,
  DEFAULT_OVERLAP_SECONDS,
  OrganizationKeyCreate,
  OrganizationKeyQuery,
} from "../../../schema/key.ts";
import { defineRoute } from "../../route.ts";

const listKeys = defineRoute("GET /organizations/:organization_id/api-keys", {
  operation: "organizations.api_keys.list",
  access: "jwt",
  audit: { action: "api_keys:list", resource: "organization" },
  summary: "List the API keys of an organization, revoked ones too.",
  description:
    "For admins. Keys of all members; no text of a key is shown, only its prefix. The filter " +
    "`unused_since__lt` finds those that nobody uses.",
  query: OrganizationKeyQuery,
  response: ApiKeyPage,
  async handle({ principal, read, params, query }) {
    authorize(principal, "organization:manage", params);
    const search = { ...query, organizationId: params.organization_id, userId: query.user_id ?? null };
    return pageOf(await read((sql) => listApiKeys(sql, search, query)), query);
  },
});

const createKeyOfMember = defineRoute("POST /organizations/:organization_id/api-keys", {
  operation: "organizations.api_keys.create",
  access: "jwt",
  audit: { action: "api_keys:create", resource: "organization" },
  status: 201,
  summary: "Make an API key for a member; its text is shown only in this answer.",
  description:
    "For admins. Made for somebody else it reaches the member's shared spaces and never the private " +
    "one. The member finds it in the own list, with who made it.",
  body: OrganizationKeyCreate,
  response: ApiKeyCreated,
  replyHeaders: { "Cache-Control": "no-store" },
  async handle({ deps, caller, params, body, reply }) {
    reply.header("Cache-Control", "no-store");
    return issueKey(deps, caller, {
      member: { organizationId: params.organization_id, userId: body.user_id },
      name: body.name,
      spaces: body.spaces ?? null,
      capabilities: body.capabilities ?? null,
      expiresAt: body.expires_at ?? null,
      allowedCidrs: body.allowed_cidrs ?? null,
    });
  },
});

const revokeKeyOfMember = defineRoute("DELETE /organizations/:organization_id/api-keys/:api_key_id", {
  operation: "organizations.api_keys.revoke",
  access: "jwt",
  audit: { action: "api_keys:revoke", resource: "api_key" },
  status: 204,
  summary: "Revoke an API key of a member; it is refused everywhere within 5 seconds.",
  description:
    "For admins. It is refused everywhere within 5 seconds, with both its texts if it was rolled. That " +
    "cannot be undone.",
  async handle({ deps, caller, params }) {
    await revokeKey(deps, caller, { id: params.api_key_id, asAdminOf: params.organization_id });
  },
});

const rollKeyOfMember = defineRoute("POST /organizations/:organization_id/api-keys/:api_key_id/roll", {
  operation: "organizations.api_keys.roll",
  access: "jwt",
  audit: { action: "api_keys:roll", resource: "api_key" },
  status: 201,
  summary:
    "Give an API key that an administrator made for a member a new text, shown only in this answer; " +
    "the one of before is accepted for a while.",
  description:
    "For admins. Keys that members or the operator made may reach a private space, so that their owners " +
    "alone roll them: 403. Revoking a key revokes both texts.",
  body: ApiKeyRoll,
  response: ApiKeyCreated,
  replyHeaders: { "Cache-Control": "no-store" },
  async handle({ deps, caller, params, body, reply }) {
    reply.header("Cache-Control", "no-store");
    return rollKey(deps, caller, {
      id: params.api_key_id,
      asAdminOf: params.organization_id,
      overlapSeconds: body?.overlap_seconds ?? DEFAULT_OVERLAP_SECONDS,
      expiresAt: body?.expires_at ?? null,
    });
  },
});

export const organizationKeyRoutes = [listKeys, createKeyOfMember, revokeKeyOfMember, rollKeyOfMember];
