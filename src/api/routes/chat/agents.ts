/** Agents: search and details for whoever may use them, changes for the editors of their space. */
import { authorize, authorizeListing } from "../../../auth/policy.ts";
import {
  type AgentRecord,
  findAgentRecord,
  lockAgentRecord,
  insertAgent,
  markAgentDeleted,
  reachesFolders,
  searchAgents,
  updateAgent,
} from "../../../db/agents/records.ts";
import { inTenant, type Sql } from "../../../db/pool.ts";
import { DomainError } from "../../../domain/errors.ts";
import type { Principal } from "../../../domain/tenancy/principal.ts";
import {
  AgentCreate,
  AgentDetails,
  AgentPage,
  AgentPatch,
  AgentSearch,
  AgentSearchQuery,
} from "../../../schema/agent.ts";
import { AgentParams, pageOf } from "../../../schema/common.ts";
import { auditChange } from "../../audit-change.ts";
import { etagOf, requireUnchanged } from "../../../commands/etag.ts";
import { defineRoute } from "../../route.ts";

const ETAG = { ETag: "Changes with the agent's configuration; for If-Match" };
const IF_MATCH = { "If-Match": "The ETag that GET gave; 412 where the agent has changed since" };

const searchForAgents = defineRoute({
  method: "POST",
  path: "/agents/search",
  access: "keys",
  capability: "read",
  audit: { action: "agents:search", resource: "agent", isChange: false },
  status: 200,
  summary: "List the agents that the caller may use.",
  tags: ["Agents"],
  query: AgentSearchQuery,
  body: AgentSearch,
  response: AgentPage,
  async handle({ deps, principal, query, body }) {
    authorizeListing(principal, "agents:read");
    const { items, total } = await inTenant(deps.db, principal.organization, (sql) =>
      searchAgents(sql, principal, body, query),
    );
    return pageOf(items, total, query);
  },
});

const getAgent = defineRoute({
  method: "GET",
  path: "/agents/:agent_id",
  access: "keys",
  capability: "read",
  audit: { action: "agents:read", resource: "agent" },
  status: 200,
  summary: "One agent with its whole configuration.",
  tags: ["Agents"],
  params: AgentParams,
  response: AgentDetails,
  replyHeaders: ETAG,
  async handle({ deps, principal, params, reply }) {
    const agent = await inTenant(deps.db, principal.organization, (sql) =>
      findAgentRecord(sql, principal.organization.id, params.agent_id),
    );
    authorize(principal, "agents:read", agent);
    reply.header("ETag", etagOfAgent(agent));
    return agent;
  },
});

const createAgent = defineRoute({
  method: "POST",
  path: "/agents",
  access: "jwt",
  audit: { action: "agents:create", resource: "agent" },
  status: 201,
  summary: "Make an agent in a space.",
  tags: ["Agents"],
  body: AgentCreate,
  response: AgentDetails,
  errors: [404],
  async handle({ deps, principal, body, request }) {
    const resource = { space_id: body.space_id };
    authorize(principal, "agents:create", resource);
    return inTenant(deps.db, principal.organization, async (sql) => {
      await requireFolders(sql, principal, body.allowed_folder_ids);
      const id = await insertAgent(sql, principal, body);
      await auditChange(sql, { principal, request }, "agents:create", {
        type: "agent",
        id,
        spaceId: body.space_id,
      });
      return changedAgent(sql, principal, id);
    });
  },
});

const updateAgentRoute = defineRoute({
  method: "PATCH",
  path: "/agents/:agent_id",
  access: "jwt",
  audit: { action: "agents:update", resource: "agent" },
  status: 200,
  summary: "Change an agent.",
  description: "Each change raises the last part of `version`; a request that changes nothing does not.",
  tags: ["Agents"],
  params: AgentParams,
  body: AgentPatch,
  response: AgentDetails,
  headers: IF_MATCH,
  replyHeaders: ETAG,
  errors: [412],
  async handle({ deps, principal, params, body, request, reply }) {
    const agent = await inTenant(deps.db, principal.organization, async (sql) => {
      const before = await lockWritableAgent(sql, principal, params.agent_id);
      requireUnchanged(request.headers["if-match"], etagOfAgent(before));
      await requireFolders(sql, principal, body.allowed_folder_ids);
      const isChanged = await updateAgent(sql, before.id, principal.user.id, body);
      if (!isChanged) return before;
      await auditChange(sql, { principal, request }, "agents:update", {
        type: "agent",
        id: before.id,
        spaceId: before.space_id,
      });
      return changedAgent(sql, principal, before.id);
    });
    reply.header("ETag", etagOfAgent(agent));
    return agent;
  },
});

const deleteAgent = defineRoute({
  method: "DELETE",
  path: "/agents/:agent_id",
  access: "jwt",
  audit: { action: "agents:delete", resource: "agent" },
  status: 204,
  summary: "Delete an agent.",
  tags: ["Agents"],
  params: AgentParams,
  headers: IF_MATCH,
  errors: [412],
  async handle({ deps, principal, params, request }) {
    await inTenant(deps.db, principal.organization, async (sql) => {
      const agent = await lockWritableAgent(sql, principal, params.agent_id);
      requireUnchanged(request.headers["if-match"], etagOfAgent(agent));
      await markAgentDeleted(sql, agent.id);
      await auditChange(sql, { principal, request }, "agents:delete", {
        type: "agent",
        id: agent.id,
        spaceId: agent.space_id,
      });
    });
  },
});

export const agentRoutes = [searchForAgents, getAgent, createAgent, updateAgentRoute, deleteAgent];

function etagOfAgent(agent: AgentRecord): string {
  return etagOf(agent.id, agent.version, agent.updated_at);
}

async function lockWritableAgent(sql: Sql, principal: Principal, id: string): Promise<AgentRecord> {
  const agent = await lockAgentRecord(sql, principal.organization.id, id);
  authorize(principal, "agents:write", agent);
  return agent;
}

async function changedAgent(sql: Sql, principal: Principal, id: string): Promise<AgentRecord> {
  const agent = await findAgentRecord(sql, principal.organization.id, id);
  // Its space may have been deleted in the meantime.
  authorize(principal, "agents:read", agent);
  return agent;
}

async function requireFolders(
  sql: Sql,
  principal: Principal,
  ids: readonly string[] | null | undefined,
): Promise<void> {
  if (ids === null || ids === undefined || (await reachesFolders(sql, principal, ids))) return;
  throw new DomainError("not_found", "Folder not found");
}
