/** Spaces: search by everyone who reaches them, changes by their owners. */
import { authorize, authorizeListing, decide } from "../../../auth/policy.ts";
import { markSpaceDeleted } from "../../../db/deletions/accept.ts";
import { inTenant, type Sql } from "../../../db/pool.ts";
import { listSpaceMemberIds } from "../../../db/tenancy/space-members.ts";
import {
  findSpaceOfOrganization,
  insertSpace,
  lockSpace,
  renameSpace,
  searchSpaces,
  type SpaceRow,
} from "../../../db/tenancy/spaces.ts";
import { DomainError } from "../../../domain/errors.ts";
import type { Principal } from "../../../domain/tenancy/principal.ts";
import { PRIVATE_SPACE } from "../../../domain/tenancy/provision.ts";
import { pageOf, SpaceParams } from "../../../schema/common.ts";
import {
  Space,
  SpaceCreate,
  SpacePage,
  SpacePatch,
  SpaceSearch,
  SpaceSearchQuery,
} from "../../../schema/space.ts";
import { auditChange } from "../../audit-change.ts";
import { etagOf, requireUnchanged } from "../../../commands/etag.ts";
import { defineRoute } from "../../route.ts";

const ETAG = { ETag: "Changes with the space; for If-Match" };
const IF_MATCH = { "If-Match": "The ETag that GET gave; 412 where the space has changed since" };

const searchForSpaces = defineRoute({
  method: "POST",
  path: "/spaces/search",
  access: "keys",
  capability: "read",
  audit: { action: "spaces:search", resource: "space", isChange: false },
  status: 200,
  summary: "List the spaces that the caller reaches.",
  tags: ["Spaces"],
  query: SpaceSearchQuery,
  body: SpaceSearch,
  response: SpacePage,
  async handle({ deps, principal, query, body }) {
    authorizeListing(principal, "spaces:read");
    const { items, total } = await inTenant(deps.db, principal.organization, (sql) =>
      searchSpaces(sql, principal.reach, body, query),
    );
    return pageOf(items, total, query);
  },
});

const createSpace = defineRoute({
  method: "POST",
  path: "/spaces",
  access: "jwt",
  audit: { action: "spaces:create", resource: "space" },
  status: 201,
  summary: "Make a shared space; the caller is its owner.",
  tags: ["Spaces"],
  body: SpaceCreate,
  response: Space,
  async handle({ deps, principal, body, request }) {
    const { organization, user } = principal;
    authorize(principal, "spaces:create", { organization_id: organization.id });
    requireSharedName(body.name);
    const space = await inTenant(deps.db, organization, async (sql) => {
      const made = await insertSpace(sql, organization, user.id, body.name);
      await auditChange(sql, { principal, request }, "spaces:create", {
        type: "space",
        id: made.id,
        spaceId: made.id,
      });
      return made;
    });
    deps.authenticator.forgetUser(user.id);
    return space;
  },
});

const getSpace = defineRoute({
  method: "GET",
  path: "/spaces/:space_id",
  access: "jwt",
  audit: { action: "spaces:read", resource: "space" },
  status: 200,
  summary: "One space.",
  tags: ["Spaces"],
  params: SpaceParams,
  response: Space,
  replyHeaders: ETAG,
  async handle({ deps, principal, params, reply }) {
    const space = await inTenant(deps.db, principal.organization, (sql) =>
      findSpaceOfOrganization(sql, principal.organization.id, params.space_id),
    );
    const resource = space && { ...space, space_id: space.id };
    const mayManage = decide(principal, "spaces:manage", resource) === "allow";
    authorize(principal, mayManage ? "spaces:manage" : "spaces:read", resource);
    reply.header("ETag", etagOfSpace(resource));
    return resource;
  },
});

const updateSpace = defineRoute({
  method: "PATCH",
  path: "/spaces/:space_id",
  access: "jwt",
  audit: { action: "spaces:update", resource: "space" },
  status: 200,
  summary: "Rename a space.",
  tags: ["Spaces"],
  params: SpaceParams,
  body: SpacePatch,
  response: Space,
  headers: IF_MATCH,
  replyHeaders: ETAG,
  errors: [412],
  async handle({ deps, principal, params, body, request, reply }) {
    const space = await inTenant(deps.db, principal.organization, async (sql) => {
      const before = await requireManagedSpace(sql, principal, params.space_id);
      requireUnchanged(request.headers["if-match"], etagOfSpace(before));
      if (body.name === undefined || body.name === before.name) return before;
      if (!before.is_private) requireSharedName(body.name);
      await auditChange(sql, { principal, request }, "spaces:update", {
        type: "space",
        id: before.id,
        spaceId: before.id,
      });
      return renameSpace(sql, before.id, body.name);
    });
    reply.header("ETag", etagOfSpace(space));
    return space;
  },
});

const deleteSpace = defineRoute({
  method: "DELETE",
  path: "/spaces/:space_id",
  access: "jwt",
  audit: { action: "spaces:delete", resource: "space" },
  status: 204,
  summary: "Delete a shared space with all that is in it.",
  description: "Nobody reaches it from now on; what is stored is removed in the background.",
  tags: ["Spaces"],
  params: SpaceParams,
  headers: IF_MATCH,
  errors: [400, 412],
  async handle({ deps, principal, params, request }) {
    const { organization, user } = principal;
    const memberIds = await inTenant(deps.db, organization, async (sql) => {
      const space = await requireManagedSpace(sql, principal, params.space_id);
      requireUnchanged(request.headers["if-match"], etagOfSpace(space));
      if (space.is_private) throw new DomainError("bad_request", "A private space cannot be deleted.");
      await markSpaceDeleted(sql, { organization, userId: user.id, targetId: space.id });
      await auditChange(sql, { principal, request }, "spaces:delete", {
        type: "space",
        id: space.id,
        spaceId: space.id,
      });
      return listSpaceMemberIds(sql, space.id);
    });
    for (const id of memberIds) deps.authenticator.forgetUser(id);
    deps.dispatcher.wakeDeletions(organization.id);
  },
});

export const spaceRoutes = [searchForSpaces, createSpace, getSpace, updateSpace, deleteSpace];

function etagOfSpace(space: SpaceRow): string {
  return etagOf(space.id, space.updated_at);
}

/** Provisioning files and the command line call everybody's own space by this name. */
function requireSharedName(name: string): void {
  if (name.trim().toLowerCase() === PRIVATE_SPACE)
    throw new DomainError("bad_request", "This name is kept for the users' own spaces.");
}

/**
 * The space, its row locked where it is to be changed.
 * @throws DomainError `not_found` where the caller does not reach it, `permission_denied` where the caller may not manage it.
 */
export async function requireManagedSpace(
  sql: Sql,
  principal: Principal,
  id: string,
  find: typeof lockSpace = lockSpace,
): Promise<SpaceRow> {
  const space = await find(sql, principal.organization.id, id);
  const resource = space && { ...space, space_id: space.id };
  authorize(principal, "spaces:manage", resource);
  return resource;
}
