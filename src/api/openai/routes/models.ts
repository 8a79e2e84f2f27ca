/** Agents, in the form in which OpenAI's clients list models. */
import { z } from "zod";
import { findUsableAgent, listUsableAgents, type ModelListEntry } from "../../../db/turns/agents-in-chat.ts";
import { DomainError } from "../../../domain/errors.ts";
import { Model, ModelList } from "../../../schema/agent.ts";
import { defineRoute } from "../../route.ts";

const EXAMPLE_AGENT = "01900000-0000-7000-8000-000000000020";
const MODELS_MAX = 1_000;

export const listModels = defineRoute("GET /models", {
  operation: "models.list",
  access: "keys",
  capability: "chat",
  audit: { action: "agents:list", resource: "agent" },
  response: ModelList,
  summary: "List the agents that can be chatted with.",
  description:
    `At most ${MODELS_MAX}, oldest first, without system agents. ` +
    "The `id` is what chat completions take as `model`.",
  async handle({ principal, read }) {
    const agents = await read((sql) => listUsableAgents(sql, principal, MODELS_MAX));
    return { object: "list" as const, data: agents.map(asModel) };
  },
});

export const getModel = defineRoute("GET /models/:model", {
  operation: "models.get",
  form: "openai",
  access: "keys",
  capability: "chat",
  audit: { action: "agents:read", resource: "agent", param: "model" },
  params: z.object({
    model: z.string().max(255).meta({ description: "An agent's id", example: EXAMPLE_AGENT }),
  }),
  response: Model,
  summary: "An agent, as OpenAI's clients read a model.",
  description: "Agents alone are models; the name of a language model is answered 404.",
  async handle({ principal, read, params }) {
    const agent = await read((sql) => findUsableAgent(sql, principal, params.model));
    if (agent === undefined)
      throw new DomainError("model_not_found", `Model '${params.model}' not found`, { param: "model" });
    return asModel(agent);
  },
});

function asModel({ id, name, organization_id, created_at }: ModelListEntry) {
  return {
    id,
    name,
    object: "model" as const,
    created: Math.floor(created_at.getTime() / 1_000),
    owned_by: organization_id,
  };
}
