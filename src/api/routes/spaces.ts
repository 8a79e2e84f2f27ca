/** POST /spaces/search. */
import { authorizeListing } from "../../auth/policy.ts";
import { inTenant } from "../../db/pool.ts";
import { searchSpaces } from "../../db/spaces.ts";
import { pageOf } from "../../schema/common.ts";
import { SpacePage, SpaceSearch, SpaceSearchQuery } from "../../schema/space.ts";
import { defineRoute } from "../route.ts";

export const listSpaces = defineRoute({
  method: "POST",
  path: "/spaces/search",
  access: "keys",
  capability: "read",
  status: 200,
  summary: "List the spaces that the caller reaches.",
  tags: ["Spaces"],
  query: SpaceSearchQuery,
  body: SpaceSearch,
  response: SpacePage,
  async handle({ deps, principal, query, body }) {
    authorizeListing(principal, "spaces:read");
    const { items, total } = await inTenant(deps.db, principal.organization, (sql) => searchSpaces(sql, principal.reach, body, query));
    return pageOf(items, total, query);
  },
});
