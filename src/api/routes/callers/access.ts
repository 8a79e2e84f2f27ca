/** What a person or a key can see, and why. */
import { authorize } from "../../../auth/policy.ts";
import { type ApiKeyRow, findApiKey } from "../../../db/keys/api-keys.ts";
import { type Sql, readTenant } from "../../../db/pool.ts";
import { findMember } from "../../../db/tenancy/members.ts";
import { notFound } from "../../../domain/not-found.ts";
import { readAccess } from "../../../queries/access/read-access.ts";
import { AccessQuery, SpaceAccessPage } from "../../../schema/access.ts";
import { pageOf } from "../../../schema/fields.ts";
import { ApiKeyParams, OrganizationKeyParams } from "../../../schema/key.ts";
import { MemberParams } from "../../../schema/organization.ts";
import { defineRoute } from "../../route.ts";

const shared = {
  method: "GET",
  access: "jwt",
  status: 200,
  query: AccessQuery,
  response: SpaceAccessPage,
} as const;

const HOW =
  "One entry for each space that the user has a role in, and of an admin for each shared space. `can` is " +
  "what the service would allow, `because` says why so much and why not more.";

const getOwnAccess = defineRoute({
  ...shared,
  path: "/me/access",
  operation: "me.access.list",
  audit: { action: "access:read", resource: "user" },
  summary: "What the caller can do in which space, and why.",
  description: HOW,
  tags: ["Profile"],
  async handle({ deps, principal, query }) {
    const subject = {
      userId: principal.user.id,
      organizationRole: principal.organization.role,
      key: null,
    };
    const { items, total } = await readTenant(deps.db, principal.organization, (sql) =>
      readAccess(sql, principal, subject, { ...query, spaceId: query.space_id ?? null }),
    );
    return pageOf(items, total, query);
  },
});

const getAccessOfOwnKey = defineRoute({
  ...shared,
  path: "/me/api-keys/:api_key_id/access",
  operation: "api_keys.access.list",
  audit: { action: "access:read", resource: "api_key" },
  summary: "What one of the caller's API keys can do in which space, and why.",
  description: `${HOW} An expired or revoked key can do nothing, whatever is said here.`,
  tags: ["API keys"],
  params: ApiKeyParams,
  async handle({ deps, principal, params, query }) {
    const { items, total } = await readTenant(deps.db, principal.organization, async (sql) => {
      const key = await findApiKey(sql, params.api_key_id);
      if (key === undefined || key.user_id !== principal.user.id) throw notFound("api_key");
      const subject = { userId: principal.user.id, organizationRole: principal.organization.role, key };
      return readAccess(sql, principal, subject, { ...query, spaceId: query.space_id ?? null });
    });
    return pageOf(items, total, query);
  },
});

/** @throws DomainError `user_not_found` for who is no member */
async function subjectOf(sql: Sql, organizationId: string, userId: string, key: ApiKeyRow | null) {
  const member = await findMember(sql, organizationId, userId);
  if (member === undefined) throw notFound("user");
  return { userId, organizationRole: member.role, key };
}

const getAccessOfMember = defineRoute({
  ...shared,
  path: "/organizations/:organization_id/members/:user_id/access",
  operation: "organizations.member_access.list",
  audit: { action: "access:read", resource: "user" },
  summary: "What a member can do in which space, and why.",
  description: `For admins. ${HOW} Of a private space of somebody else only that it is there is said.`,
  tags: ["Organizations"],
  params: MemberParams,
  async handle({ deps, principal, params, query }) {
    authorize(principal, "organization:manage", params);
    const { items, total } = await readTenant(deps.db, principal.organization, async (sql) => {
      const subject = await subjectOf(sql, params.organization_id, params.user_id, null);
      return readAccess(sql, principal, subject, { ...query, spaceId: query.space_id ?? null });
    });
    return pageOf(items, total, query);
  },
});

const getAccessOfKey = defineRoute({
  ...shared,
  path: "/organizations/:organization_id/api-keys/:api_key_id/access",
  operation: "organizations.api_key_access.list",
  audit: { action: "access:read", resource: "api_key" },
  summary: "What an API key of a member can do in which space, and why.",
  description: `For admins. ${HOW} An expired or revoked key can do nothing, whatever is said here.`,
  tags: ["Organizations"],
  params: OrganizationKeyParams,
  async handle({ deps, principal, params, query }) {
    authorize(principal, "organization:manage", params);
    const { items, total } = await readTenant(deps.db, principal.organization, async (sql) => {
      const key = await findApiKey(sql, params.api_key_id);
      if (key === undefined) throw notFound("api_key");
      const subject = await subjectOf(sql, params.organization_id, key.user_id, key);
      return readAccess(sql, principal, subject, { ...query, spaceId: query.space_id ?? null });
    });
    return pageOf(items, total, query);
  },
});

export const accessRoutes = [getOwnAccess, getAccessOfOwnKey, getAccessOfMember, getAccessOfKey];
