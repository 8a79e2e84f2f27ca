/** The list of agents, in the form in which OpenAI's clients list models. */
import { listUsableAgents } from "../../../db/turns/agents-in-chat.ts";
import { readTenant } from "../../../db/pool.ts";
import { ModelList } from "../../../schema/agent.ts";
import { defineRoute } from "../../route.ts";

const MODELS_MAX = 1_000;

export const listModels = defineRoute({
  method: "GET",
  path: "/models",
  operation: "models.list",
  access: "keys",
  capability: "chat",
  audit: { action: "agents:list", resource: "agent" },
  status: 200,
  response: ModelList,
  tags: ["Chat"],
  summary: "List the agents that can be chatted with.",
  description:
    `At most ${MODELS_MAX}, oldest first, without system agents. ` +
    "The `id` is what chat completions take as `model`.",
  async handle({ deps, principal }) {
    const agents = await readTenant(deps.db, principal.organization, (sql) =>
      listUsableAgents(sql, principal, MODELS_MAX),
    );
    const data = agents.map(({ id, name, organization_id, created_at }) => ({
      id,
      name,
      object: "model" as const,
      created: Math.floor(created_at.getTime() / 1_000),
      owned_by: organization_id,
    }));
    return { object: "list" as const, data };
  },
});
