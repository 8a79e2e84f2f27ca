/** Routes of spaces: search for those who reach them, changes for their owners. */
import type { z } from "zod";
import { authorize, authorizeListing, decide } from "../../../auth/policy.ts";
import { createSpace } from "../../../commands/spaces/create-space.ts";
import { deleteSpace } from "../../../commands/spaces/delete-space.ts";
import { spaceEtag } from "../../../commands/spaces/space.ts";
import { updateSpace } from "../../../commands/spaces/update-space.ts";
import { findAuc } from "../../../db/search/index/language-fit.ts";
import { findSpaceOfOrganization, searchSpaces } from "../../../db/tenancy/spaces.ts";
import { isLanguageKnown, languageFit } from "../../../domain/language-fit.ts";
import { pageOf } from "../../../schema/fields.ts";
import {
  Space,
  SpaceCreate,
  SpaceDetails,
  SpacePage,
  SpacePatch,
  SpaceSearch,
  SpaceSearchQuery,
} from "../../../schema/space.ts";
import { defineRoute } from "../../route.ts";

const ETAG = { ETag: "Changes with the space; for If-Match" };
const IF_MATCH = { "If-Match": "The ETag that GET gave; 412 where the space has changed since" };

export const searchForSpaces = defineRoute("POST /spaces/search", {
  operation: "spaces.search",
  access: "keys",
  capability: "read",
  audit: { action: "spaces:search", resource: "space", isChange: false },
  summary: "List the spaces that the caller can access.",
  description:
    "Lists the spaces in which the caller has a role, the private one too; a key that is " +
    "narrowed to spaces lists those alone. All filters must hold; without a body all are listed.",
  query: SpaceSearchQuery,
  body: SpaceSearch,
  response: SpacePage,
  async handle({ principal, read, query, body }) {
    authorizeListing(principal, "spaces:read");
    return pageOf(await read((sql) => searchSpaces(sql, principal.reach, body, query)), query);
  },
});

const postSpace = defineRoute("POST /spaces", {
  operation: "spaces.create",
  access: "jwt",
  audit: { action: "spaces:create", resource: "space" },
  status: 201,
  summary: "Create a shared space; the caller becomes its owner.",
  description: "Every member of the organization may. Sending it twice makes two of the same name.",
  body: SpaceCreate,
  response: Space,
  handle: async ({ deps, caller, body }) => createSpace(deps, caller, { name: body.name }),
});

const getSpace = defineRoute("GET /spaces/:space_id", {
  operation: "spaces.get",
  access: "jwt",
  audit: { action: "spaces:read", resource: "space" },
  summary: "One space.",
  description:
    "For everybody with a role in it, and for admins of the organization unless it is private. " +
    "The `ETag` is for `If-Match` of a change. `embedding` says whether the embedding model " +
    "knows the language of the space's documents; it is measured, and does not change the `ETag`.",
  response: SpaceDetails,
  replyHeaders: ETAG,
  async handle({ deps, principal, read, params, reply }) {
    const { name: model } = deps.embedding;
    const { space, auc } = await read(async (sql) => ({
      space: await findSpaceOfOrganization(sql, principal.organization.id, params.space_id),
      auc: await findAuc(sql, params.space_id, model),
    }));
    const resource = space && { ...space, space_id: space.id };
    const mayManage = decide(principal, "spaces:manage", resource) === "allow";
    authorize(principal, mayManage ? "spaces:manage" : "spaces:read", resource);
    reply.header("ETag", spaceEtag(resource));
    return { ...resource, embedding: embeddingOf(model, auc) };
  },
});

/** @param auc null if it is not known. */
function embeddingOf(model: string, auc: number | null): z.output<typeof SpaceDetails>["embedding"] {
  const fit = auc === null ? null : languageFit(auc);
  return { model, language_fit: fit, is_language_known: fit === null ? null : isLanguageKnown(fit) };
}

const patchSpace = defineRoute("PATCH /spaces/:space_id", {
  operation: "spaces.update",
  access: "jwt",
  audit: { action: "spaces:update", resource: "space" },
  summary: "Rename a space.",
  description:
    "For its owners, and for admins of the organization unless it is private. Only the name can " +
    "be changed; the space's id stays.",
  body: SpacePatch,
  response: Space,
  headers: IF_MATCH,
  replyHeaders: ETAG,
  errors: [412],
  async handle({ deps, caller, params, body, request, reply }) {
    const space = await updateSpace(deps, caller, {
      id: params.space_id,
      ifMatch: request.headers["if-match"],
      name: body.name,
    });
    reply.header("ETag", spaceEtag(space));
    return space;
  },
});

const removeSpace = defineRoute("DELETE /spaces/:space_id", {
  operation: "spaces.delete",
  access: "jwt",
  audit: { action: "spaces:delete", resource: "space" },
  status: 204,
  summary: "Delete a shared space with everything in it.",
  description:
    "For its owners, and for admins of the organization. Nobody reaches it from now on; what is " +
    "stored is removed in the background. A private space cannot be deleted: 400.",
  headers: IF_MATCH,
  errors: [400, 412],
  async handle({ deps, caller, params, request }) {
    await deleteSpace(deps, caller, { id: params.space_id, ifMatch: request.headers["if-match"] });
    deps.chat.forgetAgents(params.space_id);
  },
});

export const spaceRoutes = [searchForSpaces, postSpace, getSpace, patchSpace, removeSpace];
