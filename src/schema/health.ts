/** The contract of the health checks. */
import { z } from "zod";

export const Health = z.object({ status: z.literal("ok") }).meta({ id: "Health" });

export const Readiness = z
  .object({
    status: z
      .enum(["ready", "degraded", "starting", "unavailable", "draining"])
      .meta({ description: "`degraded`: something is down that most requests do without", example: "ready" }),
    dependencies: z.array(
      z.object({
        name: z.enum(["database", "workflows", "object_store", "disk"]),
        ok: z.boolean(),
        kind: z
          .enum(["directory", "gcs", "s3"])
          .optional()
          .meta({ description: "Of `object_store`: where objects are kept", example: "s3" }),
        latency_ms: z
          .number()
          .min(0)
          .meta({ description: "Of the last probe, at most a second ago", example: 0.8 }),
      }),
    ),
  })
  .meta({ id: "Readiness" });
export type Readiness = z.output<typeof Readiness>;
