/** What a tool is: its contract, and what it does. */
import { z } from "zod";
import type { Capability } from "../../../domain/tenancy/principal.ts";
import type { Presentable } from "../../route.ts";
import type { McpCall } from "../call.ts";

/** What clients may take for granted; hints, by which they decide whom to ask before a call. */
interface Hints {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
}

interface Contract {
  readonly name: string;
  readonly title: string;
  /** For the model that chooses. */
  readonly description: string;
  /** The capability without which the tool does not exist for a key. */
  readonly capability: Capability;
  readonly hints: Hints;
  /** Whether its answer may take long: it is a stream then, which can be gone on with. */
  readonly isLong?: boolean;
}

export interface McpTool extends Contract {
  readonly input: z.ZodType;
  readonly output: z.ZodType;
  /** As `tools/list` shows it. */
  readonly shown: Readonly<Record<string, unknown>>;
  readonly run: (call: McpCall, args: unknown) => Promise<unknown>;
}

interface Definition<I extends z.ZodObject, O extends z.ZodObject> extends Contract {
  readonly input: I;
  readonly output: O;
  readonly run: (call: McpCall, args: z.output<I>) => Promise<Presentable<z.input<O>>>;
}

export const READS: Hints = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

/** The answer passes `output`, which drops every key that it does not name. */
export function defineTool<I extends z.ZodObject, O extends z.ZodObject>(
  definition: Definition<I, O>,
): McpTool {
  const { name, title, description, hints, input, output } = definition;
  return {
    ...definition,
    shown: {
      name,
      title,
      description,
      inputSchema: jsonSchema(input, "input"),
      outputSchema: jsonSchema(output, "output"),
      annotations: { title, ...hints },
    },
    run: async (call, args) => output.parse(await definition.run(call, args as z.output<I>)),
  };
}

/** Of the dialect that all clients check by; what each field is for is in its description. */
function jsonSchema(schema: z.ZodObject, io: "input" | "output"): Record<string, unknown> {
  const { $schema: _dialect, ...shown } = z.toJSONSchema(schema, {
    target: "draft-7",
    io,
    reused: "inline",
    unrepresentable: "any",
    override({ jsonSchema: one }) {
      // Names of components of the API's own document.
      delete one.id;
      delete one["example"];
      if (io === "output") delete one.additionalProperties;
      // What the API's document says in place of what zod makes of the type.
      const { override } = one;
      delete one["override"];
      Object.assign(one, override);
    },
  });
  return shown as Record<string, unknown>;
}
