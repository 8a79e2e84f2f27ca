/** What a person or a key can see, and why. */
import type { z } from "zod";
import { authorize } from "../../../auth/policy.ts";
import { type ApiKeyRow, findApiKey } from "../../../db/keys/api-keys.ts";
import { type Sql, readTenant } from "../../../db/pool.ts";
import { findMember } from "../../../db/tenancy/members.ts";
import { notFound } from "../../../domain/not-found.ts";
import type { Principal } from "../../../domain/tenancy/principal.ts";
import { type AccessSubject, readAccess } from "../../../queries/access/read-access.ts";
import { AccessQuery, SpaceAccessPage } from "../../../schema/access.ts";
import { pageOf } from "../../../schema/fields.ts";
import { MemberParams } from "../../../schema/organization.ts";
import type { Deps } from "../../deps.ts";
import { defineRoute } from "../../route.ts";

const shared = {
  access: "jwt",
  query: AccessQuery,
  response: SpaceAccessPage,
} as const;

const HOW =
  "One entry for each space that the user has a role in, and of an admin for each shared space. `can` is " +
  "what the service would allow, `because` says why so much and why not more.";

interface Asked {
  readonly deps: Pick<Deps, "db">;
  readonly principal: Principal;
  readonly query: z.output<typeof AccessQuery>;
}

/** @param find whose access it is; throws if the caller may not know */
async function answerAccess(
  { deps, principal, query }: Asked,
  find: (sql: Sql) => Promise<AccessSubject> | AccessSubject,
) {
  return pageOf(
    await readTenant(deps.db, principal.organization, async (sql) =>
      readAccess(sql, principal, await find(sql), { ...query, spaceId: query.space_id ?? null }),
    ),
    query,
  );
}

/** The caller, or a key of theirs. */
const ownSubject = ({ user, organization }: Principal, key: ApiKeyRow | null): AccessSubject => ({
  userId: user.id,
  organizationRole: organization.role,
  key,
});

const getOwnAccess = defineRoute("GET /me/access", {
  ...shared,
  operation: "me.access.list",
  audit: { action: "access:read", resource: "user" },
  summary: "What the caller can do in which space, and why.",
  description: HOW,
  handle: (asked) => answerAccess(asked, () => ownSubject(asked.principal, null)),
});

const getAccessOfOwnKey = defineRoute("GET /me/api-keys/:api_key_id/access", {
  ...shared,
  operation: "api_keys.access.list",
  audit: { action: "access:read", resource: "api_key" },
  summary: "What one of the caller's API keys can do in which space, and why.",
  description: `${HOW} An expired or revoked key can do nothing, whatever is said here.`,
  handle: (asked) =>
    answerAccess(asked, async (sql) => {
      const key = await findApiKey(sql, asked.params.api_key_id);
      if (key === undefined || key.user_id !== asked.principal.user.id) throw notFound("api_key");
      return ownSubject(asked.principal, key);
    }),
});

/** @throws DomainError `user_not_found` for who is no member */
async function subjectOf(sql: Sql, organizationId: string, userId: string, key: ApiKeyRow | null) {
  const member = await findMember(sql, organizationId, userId);
  if (member === undefined) throw notFound("user");
  return { userId, organizationRole: member.role, key };
}

const getAccessOfMember = defineRoute("GET /organizations/:organization_id/members/:user_id/access", {
  ...shared,
  operation: "organizations.member_access.list",
  audit: { action: "access:read", resource: "user" },
  summary: "What a member can do in which space, and why.",
  description: `For admins. ${HOW} Of a private space of somebody else only that it is there is said.`,
  params: MemberParams,
  handle: (asked) => {
    authorize(asked.principal, "organization:manage", asked.params);
    const { organization_id: organizationId, user_id: userId } = asked.params;
    return answerAccess(asked, (sql) => subjectOf(sql, organizationId, userId, null));
  },
});

const getAccessOfKey = defineRoute("GET /organizations/:organization_id/api-keys/:api_key_id/access", {
  ...shared,
  operation: "organizations.api_key_access.list",
  audit: { action: "access:read", resource: "api_key" },
  summary: "What an API key of a member can do in which space, and why.",
  description: `For admins. ${HOW} An expired or revoked key can do nothing, whatever is said here.`,
  handle: (asked) => {
    authorize(asked.principal, "organization:manage", asked.params);
    const { organization_id: organizationId, api_key_id: keyId } = asked.params;
    return answerAccess(asked, async (sql) => {
      const key = await findApiKey(sql, keyId);
      if (key === undefined) throw notFound("api_key");
      return subjectOf(sql, organizationId, key.user_id, key);
    });
  },
});

export const accessRoutes = [getOwnAccess, getAccessOfOwnKey, getAccessOfMember, getAccessOfKey];
