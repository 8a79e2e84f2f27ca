/** The contract of the health checks. */
import { z } from "zod";
import { field } from "./field.ts";

export const Health = z
  .object({ status: z.literal("ok").describe("There is no other status") })
  .meta({ id: "Health" });

export const Readiness = z
  .object({
    status: z.enum(["ready", "degraded", "starting", "unavailable", "draining"]).meta({
      description:
        "`ready`; `degraded`: something is down that most requests do without; `starting` and `draining`: " +
        "this process begins or stops; `unavailable`: there is no database",
      example: "ready",
    }),
    dependencies: z
      .array(
        z.object({
          name: z
            .enum(["database", "workflows", "object_store", "disk"])
            .meta({ description: "What this process depends on", example: "database" }),
          ok: field.flag("Whether its last probe succeeded", true),
          kind: z
            .enum(["directory", "gcs", "s3"])
            .optional()
            .meta({ description: "Of `object_store`: where objects are kept", example: "s3" }),
          latency_ms: z.number().min(0).meta({
            description: "Milliseconds of the last probe, at most a second ago",
            example: 0.8,
          }),
        }),
      )
      .describe("Each dependency, with its last probe"),
  })
  .meta({ id: "Readiness" });
export type Readiness = z.output<typeof Readiness>;
