/** Routes of agents: search and details for those who may use them, changes for editors of their space. */
import { authorize, authorizeListing } from "../../../auth/policy.ts";
import { agentEtag } from "../../../commands/agents/agent.ts";
import { createAgent } from "../../../commands/agents/create-agent.ts";
import { deleteAgent } from "../../../commands/agents/delete-agent.ts";
import { updateAgent } from "../../../commands/agents/update-agent.ts";
import { findAgentRecord, searchAgents } from "../../../db/agents/records.ts";
import { DELETION_OF_AGENT } from "../../../db/deletions/counts.ts";
import {
  AgentCreate,
  AgentDetails,
  AgentPage,
  AgentPatch,
  AgentSearch,
  AgentSearchQuery,
} from "../../../schema/agent.ts";
import { Deletion } from "../../../schema/deletion.ts";
import { pageOf } from "../../../schema/fields.ts";
import { defineRoute } from "../../route.ts";
import { getAgentHistory } from "./agent-history.ts";

const ETAG = { ETag: "Changes with the agent's configuration; for If-Match" };
const IF_MATCH = { "If-Match": "The ETag that GET gave; 412 where the agent has changed since" };

export const searchForAgents = defineRoute("POST /agents/search", {
  operation: "agents.search",
  access: "keys",
  capability: "read",
  audit: { action: "agents:search", resource: "agent", isChange: false },
  summary: "List the agents that the caller may use.",
  description:
    "Lists public agents, and those of spaces that the caller has a role in. All filters must " +
    "hold; without a body all are listed. Pages are counted from 1.",
  query: AgentSearchQuery,
  body: AgentSearch,
  response: AgentPage,
  async handle({ principal, read, query, body }) {
    authorizeListing(principal, "agents:read");
    return pageOf(await read((sql) => searchAgents(sql, principal, body, query)), query);
  },
});

const getAgent = defineRoute("GET /agents/:agent_id", {
  operation: "agents.get",
  access: "keys",
  capability: "read",
  audit: { action: "agents:read", resource: "agent" },
  summary: "One agent with its whole configuration.",
  description:
    "For everybody who may use it: in its space, and in the whole organization if it is public. " +
    "The `ETag` is for `If-Match` of a change.",
  response: AgentDetails,
  replyHeaders: ETAG,
  async handle({ principal, read, params, reply }) {
    const agent = await read((sql) => findAgentRecord(sql, principal.organization.id, params.agent_id));
    authorize(principal, "agents:read", agent);
    reply.header("ETag", agentEtag(agent));
    return agent;
  },
});

const postAgent = defineRoute("POST /agents", {
  operation: "agents.create",
  access: "jwt",
  audit: { action: "agents:create", resource: "agent" },
  status: 201,
  summary: "Create an agent in a space.",
  description:
    "For editors and owners of the space. It can be chatted with at once. Sending it twice makes two.",
  body: AgentCreate,
  response: AgentDetails,
  errors: [404],
  async handle({ deps, caller, body }) {
    const { space_id: spaceId, ...values } = body;
    return createAgent(deps, caller, { spaceId, values });
  },
});

const patchAgent = defineRoute("PATCH /agents/:agent_id", {
  operation: "agents.update",
  access: "jwt",
  audit: { action: "agents:update", resource: "agent" },
  summary: "Change an agent.",
  description:
    "For editors and owners of its space. Fields that are left out stay as they are. Each change " +
    "raises the last part of `version`; a request that changes nothing does not.",
  body: AgentPatch,
  response: AgentDetails,
  headers: IF_MATCH,
  replyHeaders: ETAG,
  errors: [412],
  async handle({ deps, caller, params, body, request, reply }) {
    const agent = await updateAgent(deps, caller, {
      id: params.agent_id,
      ifMatch: request.headers["if-match"],
      change: body,
    });
    deps.chat.forgetAgents(agent.id);
    reply.header("ETag", agentEtag(agent));
    return agent;
  },
});

const removeAgent = defineRoute("DELETE /agents/:agent_id", {
  operation: "agents.delete",
  access: "jwt",
  audit: { action: "agents:delete", resource: "agent" },
  status: 204,
  summary: "Delete an agent.",
  description:
    "For editors and owners of its space. It is gone from every later request. Asking again is 404.",
  headers: IF_MATCH,
  errors: [412],
  async handle({ deps, caller, params, request }) {
    await deleteAgent(deps, caller, { id: params.agent_id, ifMatch: request.headers["if-match"] });
    deps.chat.forgetAgents(params.agent_id);
  },
});

const getDeletionOfAgent = defineRoute("GET /agents/:agent_id/deletion", {
  operation: "agents.deletion.get",
  access: "jwt",
  audit: { action: "agents:read", resource: "agent" },
  summary: "What deleting an agent would delete.",
  description: "For editors and owners of its space: nothing but itself. It changes nothing.",
  response: Deletion,
  async handle({ principal, read, params }) {
    const agent = await read((sql) => findAgentRecord(sql, principal.organization.id, params.agent_id));
    authorize(principal, "agents:write", agent);
    return DELETION_OF_AGENT;
  },
});

export const agentRoutes = [
  searchForAgents,
  getAgent,
  getAgentHistory,
  getDeletionOfAgent,
  postAgent,
  patchAgent,
  removeAgent,
];
