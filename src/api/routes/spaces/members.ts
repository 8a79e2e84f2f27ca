/** Routes of the roles in a space, for its owners. */
import { putSpaceMember } from "../../../commands/spaces/put-space-member.ts";
import { removeSpaceMember } from "../../../commands/spaces/remove-space-member.ts";
import { authorizeManaging } from "../../../commands/spaces/space.ts";
import { listSpaceMembers } from "../../../db/tenancy/space-members.ts";
import { findSpaceOfOrganization } from "../../../db/tenancy/spaces.ts";
import { pageOf } from "../../../schema/fields.ts";
import { SpaceMember, SpaceMemberPage, SpaceMemberPut, SpaceMembersQuery } from "../../../schema/space.ts";
import { defineRoute } from "../../route.ts";

const getSpaceMembers = defineRoute("GET /spaces/:space_id/members", {
  operation: "spaces.members.list",
  access: "jwt",
  audit: { action: "space_members:read", resource: "space" },
  summary: "List the members of a space with their roles.",
  description: "For its owners, and for admins of the organization unless the space is private.",
  query: SpaceMembersQuery,
  response: SpaceMemberPage,
  async handle({ principal, read, params, query }) {
    const { items, total } = await read(async (sql) => {
      const space = await findSpaceOfOrganization(sql, principal.organization.id, params.space_id);
      authorizeManaging(principal, space);
      return listSpaceMembers(sql, space.id, query);
    });
    return pageOf({ items, total }, query);
  },
});

const putRole = defineRoute("PUT /spaces/:space_id/members/:user_id", {
  operation: "spaces.members.put",
  access: "jwt",
  audit: { action: "space_members:update", resource: "user" },
  otherStatuses: { 201: "The user is a member of the space from now on" },
  summary: "Give a member of the organization a role in a space.",
  description:
    "For its owners, and for admins of the organization unless the space is private. 201 if the user " +
    "had no role in it, 200 if the role was changed; sending it again changes nothing. The last " +
    "owner cannot become less: 400.",
  body: SpaceMemberPut,
  response: SpaceMember,
  async handle({ deps, caller, params, body, reply }) {
    const { member, isNew } = await putSpaceMember(deps, caller, {
      spaceId: params.space_id,
      userId: params.user_id,
      role: body.role,
    });
    if (isNew) reply.status = 201;
    return member;
  },
});

const deleteRole = defineRoute("DELETE /spaces/:space_id/members/:user_id", {
  operation: "spaces.members.remove",
  access: "jwt",
  audit: { action: "space_members:delete", resource: "user" },
  status: 204,
  summary: "Remove a member from a space.",
  description:
    "For its owners, and for admins of the organization unless the space is private. The user reaches " +
    "nothing of it any more within seconds. The last owner cannot be removed: 400.",
  errors: [400],
  async handle({ deps, caller, params }) {
    await removeSpaceMember(deps, caller, { spaceId: params.space_id, userId: params.user_id });
  },
});

export const spaceMemberRoutes = [getSpaceMembers, putRole, deleteRole];
