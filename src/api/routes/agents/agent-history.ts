/** GET /agents/{agent_id}/history. */
import { authorize } from "../../../auth/policy.ts";
import { listAgentChanges } from "../../../db/agents/history.ts";
import { findAgentRecord } from "../../../db/agents/records.ts";
import { AgentChangePage } from "../../../schema/agent-history.ts";
import { AgentSearchQuery } from "../../../schema/agent.ts";
import { pageOf } from "../../../schema/fields.ts";
import { defineRoute } from "../../route.ts";

export const getAgentHistory = defineRoute("GET /agents/:agent_id/history", {
  operation: "agents.history",
  access: "jwt",
  audit: { action: "agents:read", resource: "agent" },
  summary: "What was changed of an agent, newest first: by whom, when, and from what to what.",
  description:
    "For editors and owners of its space. The newest 1,000 changes are kept; those from before version " +
    "0.10.0 are not known.",
  query: AgentSearchQuery,
  response: AgentChangePage,
  async handle({ principal, read, params, query }) {
    const { items, total } = await read(async (sql) => {
      const agent = await findAgentRecord(sql, principal.organization.id, params.agent_id);
      authorize(principal, "agents:write", agent);
      return listAgentChanges(sql, principal, agent.id, query);
    });
    return pageOf({ items, total }, query);
  },
});
