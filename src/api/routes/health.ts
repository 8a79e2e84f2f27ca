/** The health check: whether this process answers. */
import { Health } from "../../schema/health.ts";
import { defineRoute } from "../route.ts";

export const health = defineRoute({
  method: "GET",
  path: "/health",
  isUnversioned: true,
  access: "public",
  status: 200,
  response: Health,
  summary: "Whether the service answers.",
  tags: ["Health"],
  handle: async () => ({ status: "ok" as const }),
});
