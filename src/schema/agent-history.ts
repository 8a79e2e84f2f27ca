/** Contract of an agent's history. */
import { z } from "zod";
import { field } from "./field.ts";
import { envelope, Person, Timestamp } from "./fields.ts";

const AgentChange = z
  .object({
    version: field.text("The agent's version from then on", "1.0.1"),
    at: Timestamp,
    by: Person.nullable().describe("Who did it; null: not known"),
    action: z
      .enum(["created", "updated", "deleted"])
      .meta({ description: "What was done with the agent", example: "updated" }),
    changes: z
      .array(
        z.object({
          field: field.text("The field of the agent", "temperature"),
          before: z.unknown().meta({ description: "Its value until then", example: 0.2 }),
          after: z.unknown().meta({ description: "Its value from then on", example: 0.7 }),
        }),
      )
      .describe("The fields that differ; none where it was created"),
  })
  .meta({ id: "AgentChange" });

export const AgentChangePage = envelope(AgentChange, "AgentChangePage");
