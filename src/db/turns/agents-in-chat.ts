/** Reads agents for chat: what a turn needs of them, and who may use them. */
import { isUuid } from "../../domain/ids.ts";
import type { AgentValues } from "../../domain/tenancy/agent-values.ts";
import { type Principal, type ReachedSpace, reachedSpaceIds } from "../../domain/tenancy/principal.ts";
import type { Sql } from "../pool.ts";

interface ToolAttachment {
  readonly tool_id: string;
  readonly config: Readonly<Record<string, unknown>> | null;
}

export interface Agent extends Omit<AgentValues, "description" | "save_to_inbox" | "tool_attachments"> {
  readonly id: string;
  readonly organization_id: string;
  readonly space_id: string;
  /** The number of the agent's space. A caller who uses a public agent may not reach that space. */
  readonly space_num: number;
  readonly tool_attachments: readonly ToolAttachment[];
  /** Set if it stands for the configured model alone, and for no agent of the organization. */
  readonly isModel?: true;
}

/** The channel that tells listeners the id of an agent that has changed, or of a space that was deleted. */
export const AGENTS_CHANNEL = "holdfast_agents";

const CHAT_COLUMNS = `
  agent.id,
  agent.organization_id,
  agent.space_id,
  space.num as space_num,
  agent.name,
  agent.agent_type,
  agent.model,
  agent.system_prompt,
  agent.temperature,
  agent.max_tokens,
  agent.reasoning_config,
  agent.tool_attachments,
  agent.show_citations,
  agent.require_support,
  agent.is_public,
  agent.data_access_mode,
  agent.allowed_folder_ids`;

/**
 * Finds an agent, whether or not the caller may use it: that is for `auth/policy.ts` to decide.
 * @returns undefined also if `id` is no UUID.
 */
export async function findAgent(sql: Sql, id: string): Promise<Agent | undefined> {
  if (!isUuid(id)) return undefined;
  const { rows } = await sql.query<Agent>({
    name: "agent for chat",
    text: `
      select ${CHAT_COLUMNS}
      from agents agent
      join spaces space
        on space.id = agent.space_id
        and space.deleted_at is null
      where agent.id = $1
        and agent.deleted_at is null`,
    values: [id],
  });
  return rows[0];
}

/** Those that the caller may use: `$1` are the spaces in reach, `$2` whether the key was narrowed. */
const USABLE = `
  from agents agent
  join spaces space
    on space.id = agent.space_id
    and space.deleted_at is null
  where agent.deleted_at is null
    and (agent.space_id = any($1) or (agent.is_public and not $2))
    and not agent.from_system`;

export interface ModelListEntry {
  readonly id: string;
  readonly name: string;
  readonly organization_id: string;
  readonly created_at: Date;
}

/**
 * Lists at most `limit` agents that the caller may use, oldest first, without system agents: those of spaces
 * that the caller reaches, and public ones, unless the key was narrowed to chosen spaces.
 */
export async function listUsableAgents(
  sql: Sql,
  principal: Principal,
  limit: number,
): Promise<ModelListEntry[]> {
  const { rows } = await sql.query<ModelListEntry>(
    `select agent.id, agent.name, agent.organization_id, agent.created_at
     ${USABLE}
     order by agent.created_at, agent.id
     limit $3`,
    [reachedSpaceIds(principal.reach), principal.isScoped, limit],
  );
  return rows;
}

/** The agent of {@link listUsableAgents} with this id. */
export async function findUsableAgent(
  sql: Sql,
  principal: Principal,
  id: string,
): Promise<ModelListEntry | undefined> {
  if (!isUuid(id)) return undefined;
  const { rows } = await sql.query<ModelListEntry>(
    `select agent.id, agent.name, agent.organization_id, agent.created_at
     ${USABLE}
       and agent.id = $3`,
    [reachedSpaceIds(principal.reach), principal.isScoped, id],
  );
  return rows[0];
}

/** The agent, and the spaces that user and key reach now. @returns undefined if one of them is gone. */
export async function findAgentAndReach(
  sql: Sql,
  agentId: string,
  userId: string,
  apiKeyId: string | null,
): Promise<{ agent: Agent; spaces: ReachedSpace[] } | undefined> {
  const { rows } = await sql.query<Agent & { spaces: ReachedSpace[] }>(
    `select ${CHAT_COLUMNS}, reach_of($2, $3) as spaces
     from agents agent
     join spaces space
       on space.id = agent.space_id
       and space.deleted_at is null
     where agent.id = $1
       and agent.deleted_at is null
       and exists (
         select
         from users member
         where member.id = $2
           and member.removed_at is null
       )
       and ($3::uuid is null or exists (
         select
         from api_keys key
         where key.id = $3
           and key.revoked_at is null
           and (key.expires_at is null or key.expires_at > now())
       ))`,
    [agentId, userId, apiKeyId],
  );
  const row = rows[0];
  return row && { agent: row, spaces: row.spaces };
}
