/** The tool that lists whom `ask_agent` may ask. */
import { authorizeListing } from "../../../auth/policy.ts";
import { searchAgents } from "../../../db/agents/records.ts";
import { readTenant } from "../../../db/pool.ts";
import { DomainError } from "../../../domain/errors.ts";
import { AgentSearch } from "../../../schema/agent.ts";
import { ListAgentsInput, ListAgentsOutput } from "../../../schema/mcp/tools.ts";
import { audited } from "../call.ts";
import { nextCursor, placeOf } from "../cursors.ts";
import { defineTool, READS } from "./tool.ts";

const BY_NAME = AgentSearch.parse({ order_by: ["name"] });

/** The error for an agent that does not exist, or is out of the caller's reach. */
export const unknownAgent = (): DomainError =>
  new DomainError("agent_not_found", "Agent not found: the tool list_agents has the ids");

/** Not by the route, which a key cannot call that may chat and not read. */
export const listAgentsTool = defineTool({
  name: "list_agents",
  title: "List agents",
  description: "Lists the agents that the caller may ask by ask_agent, by name, with what each is for.",
  capability: "chat",
  hints: READS,
  input: ListAgentsInput,
  output: ListAgentsOutput,
  async run(call, { limit, cursor }) {
    const page = placeOf("agents", cursor);
    const { deps, principal } = call;
    const found = await audited(call, { action: "agents:list", resource: "agent", id: null }, async () => {
      authorizeListing(principal, "agents:chat");
      return readTenant(deps.db, principal.organization, (sql) =>
        searchAgents(sql, principal, BY_NAME, { page, limit }),
      );
    });
    const mayRead = principal.capabilities.has("read");
    return {
      agents: found.items.map(({ id, name, description }) => ({
        id,
        name,
        ...(mayRead ? { description } : {}),
      })),
      total: found.total,
      next_cursor: nextCursor("agents", { page, limit, total: found.total }),
    };
  },
});
