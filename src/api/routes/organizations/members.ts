/** Routes of an organization's members, for its admins. */
import { authorize } from "../../../auth/policy.ts";
import { requireMember } from "../../../commands/members/member.ts";
import { putMember } from "../../../commands/members/put-member.ts";
import { removeMember } from "../../../commands/members/remove-member.ts";
import { countMemberRemoval } from "../../../db/deletions/counts.ts";
import { listMembers } from "../../../db/tenancy/members.ts";
import { Deletion } from "../../../schema/deletion.ts";
import { pageOf } from "../../../schema/fields.ts";
import { Member, MemberPage, MemberParams, MemberPut, MemberQuery } from "../../../schema/organization.ts";
import { defineRoute } from "../../route.ts";

const getMembers = defineRoute("GET /organizations/:organization_id/members", {
  operation: "organizations.members.list",
  access: "jwt",
  audit: { action: "members:read", resource: "organization" },
  summary: "List the members of an organization.",
  description: "For admins. Members who were removed are not among them.",
  query: MemberQuery,
  response: MemberPage,
  async handle({ principal, read, params, query }) {
    authorize(principal, "organization:manage", params);
    return pageOf(await read((sql) => listMembers(sql, params.organization_id, query)), query);
  },
});

const putMemberRoute = defineRoute("PUT /organizations/:organization_id/members/:user_id", {
  operation: "organizations.members.put",
  access: "jwt",
  audit: { action: "members:update", resource: "user" },
  otherStatuses: { 201: "The user is a member from now on" },
  summary: "Add a member, or change one.",
  description:
    "For admins. The id is the caller's to choose, so that sending it again changes nothing. The first " +
    "access token with the verified e-mail address binds its subject to the member. The address of " +
    "somebody who never logged in, or was removed, and has a private space cannot be changed: 400.",
  params: MemberParams,
  body: MemberPut,
  response: Member,
  async handle({ deps, caller, params, body, reply }) {
    const { member, isNew } = await putMember(deps, caller, {
      organizationId: params.organization_id,
      userId: params.user_id,
      email: body.email,
      name: body.name,
      role: body.role,
    });
    if (isNew) reply.status = 201;
    return member;
  },
});

const deleteMember = defineRoute("DELETE /organizations/:organization_id/members/:user_id", {
  operation: "organizations.members.remove",
  access: "jwt",
  audit: { action: "members:delete", resource: "user" },
  status: 204,
  summary:
    "Remove a member: keys are revoked, and shared spaces without another owner pass to the first admin.",
  description:
    "For admins. The user is refused within seconds, and what the user made " +
    "stays. The last admin cannot be removed: 400.",
  params: MemberParams,
  errors: [400],
  async handle({ deps, caller, params }) {
    await removeMember(deps, caller, { organizationId: params.organization_id, userId: params.user_id });
  },
});

const getDeletionOfMember = defineRoute("GET /organizations/:organization_id/members/:user_id/deletion", {
  operation: "organizations.members.deletion",
  access: "jwt",
  audit: { action: "members:read", resource: "user" },
  summary: "What removing a member will take along.",
  description: "For admins. Counts what the removal would take at this moment, and changes nothing.",
  params: MemberParams,
  response: Deletion,
  async handle({ principal, read, params }) {
    authorize(principal, "organization:manage", params);
    return read(async (sql) => {
      await requireMember(sql, params.organization_id, params.user_id);
      return countMemberRemoval(sql, params.organization_id, params.user_id);
    });
  },
});

export const memberRoutes = [getMembers, putMemberRoute, getDeletionOfMember, deleteMember];
