/** Reads what changed of an agent. The trigger `note_agent_change` writes it for every version. */
import { type Principal, reachedSpaceIds } from "../../domain/tenancy/principal.ts";
import { parameters } from "../filter-sql.ts";
import { type Page, type PageRequest, readPage } from "../page.ts";
import type { Sql } from "../pool.ts";

export interface AgentChangeRow {
  readonly version: string;
  readonly at: Date;
  readonly by: { id: string; name: string; avatar_url: string | null } | null;
  readonly action: "created" | "updated" | "deleted";
  readonly changes: { field: string; before: unknown; after: unknown }[];
}

/** Returns a page of the agent's changes, newest first, if the caller reaches its space. */
export async function listAgentChanges(
  sql: Sql,
  principal: Principal,
  agentId: string,
  page: PageRequest,
): Promise<Page<AgentChangeRow>> {
  return readPage<AgentChangeRow>(
    sql,
    {
      columns: `change.version,
            change.at,
            case when actor.id is not null then jsonb_build_object(
              'id', actor.id,
              'name', actor.name,
              'avatar_url', actor.avatar_url
            ) end as by,
            change.action,
            change.changes`,
      from: `agent_changes change
     join agents agent on agent.id = change.agent_id and agent.deleted_at is null
     left join users actor on actor.id = change.actor_id`,
      where: "agent.space_id = any($1::uuid[]) and agent.organization_id = $3 and change.agent_id = $2",
      order: "change.num desc",
      params: parameters([reachedSpaceIds(principal.reach), agentId, principal.organization.id]),
    },
    page,
  );
}
