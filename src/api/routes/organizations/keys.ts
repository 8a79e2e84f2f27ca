/** API keys of all members of an organization, for its admins. */
import { authorize } from "../../../auth/policy.ts";
import { findKeyOwner, listApiKeys } from "../../../db/keys/api-keys.ts";
import { findMember } from "../../../db/tenancy/members.ts";
import { inTenant } from "../../../db/pool.ts";
import { DomainError } from "../../../domain/errors.ts";
import { OrganizationParams, pageOf } from "../../../schema/common.ts";
import {
  ApiKeyCreated,
  ApiKeyPage,
  ApiKeyRoll,
  OrganizationKeyCreate,
  OrganizationKeyParams,
  OrganizationKeyQuery,
} from "../../../schema/key.ts";
import { defineRoute } from "../../route.ts";
import { createKey, revokeKey, rollKey } from "../callers/api-keys.ts";

const listKeys = defineRoute({
  method: "GET",
  path: "/organizations/:organization_id/api-keys",
  access: "jwt",
  audit: { action: "api_keys:list", resource: "organization" },
  status: 200,
  summary: "List the API keys of an organization, revoked ones too.",
  tags: ["Organizations"],
  params: OrganizationParams,
  query: OrganizationKeyQuery,
  response: ApiKeyPage,
  async handle({ deps, principal, params, query }) {
    authorize(principal, "organization:manage", params);
    const search = { ...query, organizationId: params.organization_id, userId: query.user_id ?? null };
    const { items, total } = await inTenant(deps.db, principal.organization, (sql) =>
      listApiKeys(sql, search, query),
    );
    return pageOf(items, total, query);
  },
});

const createKeyOfMember = defineRoute({
  method: "POST",
  path: "/organizations/:organization_id/api-keys",
  access: "jwt",
  audit: { action: "api_keys:create", resource: "organization" },
  status: 201,
  summary: "Make an API key for a member; its text is shown only in this answer.",
  description:
    "Made for somebody else it reaches the member's shared spaces and never the private one. The member finds it in the own list, with who made it.",
  tags: ["Organizations"],
  params: OrganizationParams,
  body: OrganizationKeyCreate,
  response: ApiKeyCreated,
  replyHeaders: { "Cache-Control": "no-store" },
  async handle({ deps, principal, params, body, request, reply }) {
    authorize(principal, "organization:manage", params);
    const member = await inTenant(deps.db, principal.organization, (sql) =>
      findMember(sql, params.organization_id, body.user_id),
    );
    if (member === undefined) throw new DomainError("not_found", "User not found");
    reply.header("Cache-Control", "no-store");
    return createKey(deps, { principal, request }, body);
  },
});

const revokeKeyOfMember = defineRoute({
  method: "DELETE",
  path: "/organizations/:organization_id/api-keys/:api_key_id",
  access: "jwt",
  audit: { action: "api_keys:revoke", resource: "api_key" },
  status: 204,
  summary: "Revoke an API key of a member; it is refused everywhere within 5 seconds.",
  tags: ["Organizations"],
  params: OrganizationKeyParams,
  async handle({ deps, principal, params, request }) {
    authorize(principal, "organization:manage", params);
    const userId = await inTenant(deps.db, principal.organization, (sql) =>
      findKeyOwner(sql, params.organization_id, params.api_key_id),
    );
    if (userId === undefined) throw new DomainError("not_found", "API key not found");
    await revokeKey(deps, { principal, request }, { id: params.api_key_id, userId });
  },
});

const rollKeyOfMember = defineRoute({
  method: "POST",
  path: "/organizations/:organization_id/api-keys/:api_key_id/roll",
  access: "jwt",
  audit: { action: "api_keys:roll", resource: "api_key" },
  status: 201,
  summary:
    "Give an API key that an administrator made for a member a new text, shown only in this answer; the one of before is accepted for a while.",
  description:
    "Keys that members or the operator made may reach a private space, so that their owners alone roll them: 403. Revoking a key revokes both texts.",
  tags: ["Organizations"],
  params: OrganizationKeyParams,
  body: ApiKeyRoll,
  response: ApiKeyCreated,
  replyHeaders: { "Cache-Control": "no-store" },
  async handle({ deps, principal, params, body, request, reply }) {
    authorize(principal, "organization:manage", params);
    reply.header("Cache-Control", "no-store");
    return rollKey(deps, { principal, request }, { ...body, id: params.api_key_id, isAdmin: true });
  },
});

export const organizationKeyRoutes = [listKeys, createKeyOfMember, revokeKeyOfMember, rollKeyOfMember];
