/** The only place that makes a tool from a schema: the model's arguments are checked before the tool sees them. */
import { z } from "zod";
import { DomainError } from "../../domain/errors.ts";
import type { Tool, ToolContext, ToolOutput } from "./tool.ts";

interface ToolSpec<Args extends z.ZodObject> {
  readonly name: string;
  readonly description: string;
  /** Asks others than this service: a worker's work. */
  readonly reachesOut?: boolean;
  readonly args: Args;
  run(context: ToolContext, args: z.infer<Args>, signal: AbortSignal): Promise<ToolOutput>;
}

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
