/** GET /me. */
import { OPERATORS } from "../../../auth/authenticate.ts";
import { Me } from "../../../schema/me.ts";
import { defineRoute } from "../../route.ts";

export const getMe = defineRoute("GET /me", {
  operation: "me.get",
  access: "jwt",
  audit: { action: "users:read", resource: "user" },
  summary: "The caller's own profile.",
  description:
    "Says which user and organization an access token stands for, and which private space belongs to " +
    "it.",
  response: Me,
  async handle({ principal }) {
    const { user, organization, reach, authMethod } = principal;
    return {
      ...user,
      organization: { id: organization.id, name: organization.name, role: organization.role },
      private_space_id: [...reach.values()].find((space) => space.is_private)?.id ?? null,
      auth_method: authMethod,
      roles: principal.isOperator === true ? [OPERATORS] : [],
    };
  },
});
