/** Makes a tool from a schema, which checks the model's arguments before the tool runs. */
import { z } from "zod";
import { DomainError } from "../../domain/errors.ts";
import type { Tool, ToolContext, ToolOutput } from "./tool.ts";

interface ToolSpec<Args extends z.ZodObject> {
  readonly name: string;
  readonly description: string;
  /** True if the tool asks servers of others; a worker runs it then. Default false. */
  readonly reachesOut?: boolean;
  readonly args: Args;
  run(context: ToolContext, args: z.infer<Args>, signal: AbortSignal): Promise<ToolOutput>;
}

/** @example `currentTime` in current-time.ts, the shortest tool. */
export function defineTool<Args extends z.ZodObject>(spec: ToolSpec<Args>): Tool {
  const { $schema: _, ...parameters } = z.toJSONSchema(spec.args, { io: "input" });
  return {
    name: spec.name,
    description: spec.description,
    isNear: spec.reachesOut !== true,
    parameters,
    async run(context, args, signal) {
      const parsed = spec.args.safeParse(args);
      if (!parsed.success) {
        const problems = parsed.error.issues.map(
          (issue) => `${issue.path.join(".") || "arguments"}: ${issue.message}`,
        );
        throw new DomainError(
          "invalid",
          `Invalid arguments for ${spec.name}: ${problems.join("; ").slice(0, 1_000)}`,
        );
      }
      return spec.run(context, parsed.data, signal);
    },
  };
}
