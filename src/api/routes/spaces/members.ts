/** Who has which role in a space, for its owners. */
import { findMember } from "../../../db/tenancy/members.ts";
import { inTenant } from "../../../db/pool.ts";
import {
  findSpaceMember,
  listSpaceMembers,
  removeSpaceMember,
  setSpaceRole,
} from "../../../db/tenancy/space-members.ts";
import { findSpaceOfOrganization, type SpaceRow } from "../../../db/tenancy/spaces.ts";
import { DomainError } from "../../../domain/errors.ts";
import { pageOf, SpaceParams } from "../../../schema/common.ts";
import {
  SpaceMember,
  SpaceMemberPage,
  SpaceMemberParams,
  SpaceMemberPut,
  SpaceMembersQuery,
} from "../../../schema/space.ts";
import { auditChange } from "../../audit-change.ts";
import { defineRoute } from "../../route.ts";
import { requireManagedSpace } from "./spaces.ts";

const getSpaceMembers = defineRoute({
  method: "GET",
  path: "/spaces/:space_id/members",
  access: "jwt",
  audit: { action: "space_members:read", resource: "space" },
  status: 200,
  summary: "List the members of a space with their roles.",
  tags: ["Spaces"],
  params: SpaceParams,
  query: SpaceMembersQuery,
  response: SpaceMemberPage,
  async handle({ deps, principal, params, query }) {
    const { items, total } = await inTenant(deps.db, principal.organization, async (sql) => {
      const space = await requireManagedSpace(sql, principal, params.space_id, findSpaceOfOrganization);
      return listSpaceMembers(sql, space.id, query);
    });
    return pageOf(items, total, query);
  },
});

const putSpaceMember = defineRoute({
  method: "PUT",
  path: "/spaces/:space_id/members/:user_id",
  access: "jwt",
  audit: { action: "space_members:update", resource: "user" },
  status: 200,
  otherStatuses: { 201: "The user is a member of the space from now on" },
  summary: "Give a member of the organization a role in a space.",
  tags: ["Spaces"],
  params: SpaceMemberParams,
  body: SpaceMemberPut,
  response: SpaceMember,
  async handle({ deps, principal, params, body, request, reply }) {
    const { organization } = principal;
    const { isNew, member } = await inTenant(deps.db, organization, async (sql) => {
      const space = await requireManagedSpace(sql, principal, params.space_id);
      requireShared(space);
      const user = await findMember(sql, organization.id, params.user_id);
      if (user === undefined) throw new DomainError("not_found", "User not found");
      const before = await findSpaceMember(sql, space.id, user.user_id);
      await setSpaceRole(sql, organization, { spaceId: space.id, userId: user.user_id, role: body.role });
      const action = before === undefined ? "space_members:create" : "space_members:update";
      await auditChange(sql, { principal, request }, action, {
        type: "user",
        id: user.user_id,
        spaceId: space.id,
      });
      return {
        isNew: before === undefined,
        member: { user_id: user.user_id, email: user.email, name: user.name, role: body.role },
      };
    });
    deps.authenticator.forgetUser(params.user_id);
    if (isNew) reply.status = 201;
    return member;
  },
});

const deleteSpaceMember = defineRoute({
  method: "DELETE",
  path: "/spaces/:space_id/members/:user_id",
  access: "jwt",
  audit: { action: "space_members:delete", resource: "user" },
  status: 204,
  summary: "Take a member's role in a space away.",
  tags: ["Spaces"],
  params: SpaceMemberParams,
  errors: [400],
  async handle({ deps, principal, params, request }) {
    const { organization } = principal;
    await inTenant(deps.db, organization, async (sql) => {
      const space = await requireManagedSpace(sql, principal, params.space_id);
      requireShared(space);
      if ((await findSpaceMember(sql, space.id, params.user_id)) === undefined)
        throw new DomainError("not_found", "User not found");
      await removeSpaceMember(sql, space.id, params.user_id);
      await auditChange(sql, { principal, request }, "space_members:delete", {
        type: "user",
        id: params.user_id,
        spaceId: space.id,
      });
    });
    deps.authenticator.forgetUser(params.user_id);
  },
});

export const spaceMemberRoutes = [getSpaceMembers, putSpaceMember, deleteSpaceMember];

function requireShared(space: SpaceRow): void {
  if (space.is_private) throw new DomainError("bad_request", "A private space has no members but its owner.");
}
