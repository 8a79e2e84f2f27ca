/** The health checks: whether this process answers, and whether it should be sent requests. */
import { Health, Readiness } from "../../../schema/health.ts";
import { defineRoute } from "../../route.ts";

export const health = defineRoute("GET /health", {
  operation: "health.live",
  isUnversioned: true,
  access: "public",
  response: Health,
  summary: "Whether the service answers.",
  description: "Asks nothing of what the service depends on; `/health/ready` does.",
  handle: async () => ({ status: "ok" as const }),
});

export const ready = defineRoute("GET /health/ready", {
  operation: "health.ready",
  isUnversioned: true,
  access: "public",
  otherStatuses: { 503: "Not to be sent requests: it starts, stops, or has no database" },
  response: Readiness,
  summary: "Whether this process should be sent requests.",
  description:
    "Each dependency with the latency of its probe. For load balancers; a process that stops answers 503 " +
    "before it closes its port.",
  async handle({ deps, reply }) {
    const report = await deps.readiness.report();
    if (report.status !== "ready" && report.status !== "degraded") reply.status = 503;
    return report;
  },
});
