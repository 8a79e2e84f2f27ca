/** The only place that reads agents. */
import { type Principal, reachedSpaceIds } from "../../domain/tenancy/principal.ts";
import type { Sql } from "../pool.ts";

interface ToolAttachment {
  readonly tool_id: string;
  readonly config: Readonly<Record<string, unknown>> | null;
}

export interface Agent {
  readonly id: string;
  readonly organization_id: string;
  readonly space_id: string;
  /** Of the agent's space, which the caller of a public agent may not reach. */
  readonly space_num: number;
  readonly name: string;
  readonly agent_type: "simple" | "rag";
  readonly model: string;
  readonly system_prompt: string;
  readonly temperature: number | null;
  readonly max_tokens: number | null;
  readonly reasoning_config: Readonly<Record<string, unknown>> | null;
  readonly tool_attachments: readonly ToolAttachment[];
  readonly show_citations: boolean;
  readonly is_public: boolean;
  readonly data_access_mode: "origin" | "caller" | "none";
  readonly allowed_folder_ids: readonly string[] | null;
}

const CHAT_COLUMNS = `a.id, a.organization_id, a.space_id, s.num as space_num, a.name, a.agent_type, a.model, a.system_prompt, a.temperature,
  a.max_tokens, a.reasoning_config, a.tool_attachments, a.show_citations, a.is_public, a.data_access_mode, a.allowed_folder_ids`;

/** Who may use an agent: whoever reaches its space, and for a public one its organization, unless a key was narrowed to chosen spaces. */
const USABLE = "a.deleted_at is null and (a.space_id = any($1) or (a.is_public and not $2))";

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Undefined for what is no UUID, too. Whether the caller may use it is the policy's to decide. */
export async function findAgent(sql: Sql, id: string): Promise<Agent | undefined> {
  if (!UUID.test(id)) return undefined;
  const { rows } = await sql.query<Agent>({
    name: "agent for chat",
    text: `select ${CHAT_COLUMNS} from agents a join spaces s on s.id = a.space_id and s.deleted_at is null where a.id = $1 and a.deleted_at is null`,
    values: [id],
  });
  return rows[0];
}

export interface ModelListEntry {
  readonly id: string;
  readonly name: string;
  readonly organization_id: string;
  readonly created_at: Date;
}

/** Agents that the caller may use, without system agents, oldest first, at most `limit`. */
export async function listUsableAgents(
  sql: Sql,
  principal: Principal,
  limit: number,
): Promise<ModelListEntry[]> {
  const { rows } = await sql.query<ModelListEntry>(
    `select a.id, a.name, a.organization_id, a.created_at from agents a join spaces s on s.id = a.space_id and s.deleted_at is null
     where ${USABLE} and not a.from_system order by a.created_at, a.id limit $3`,
    [reachedSpaceIds(principal.reach), principal.isScoped, limit],
  );
  return rows;
}

/**
 * The agent, and the spaces that a user (through a key) reaches now: what a tool of a running turn starts from. Undefined once the
 * agent, the user or the key is gone.
 */
export async function findAgentAndReach(
  sql: Sql,
  agentId: string,
  userId: string,
  apiKeyId: string | null,
): Promise<{ agent: Agent; spaces: ReachRow[] } | undefined> {
  const { rows } = await sql.query<Agent & { spaces: ReachRow[] }>(
    `select ${CHAT_COLUMNS}, reach_of($2, $3) as spaces from agents a join spaces s on s.id = a.space_id and s.deleted_at is null
     where a.id = $1 and a.deleted_at is null
       and exists (select from users u where u.id = $2 and u.removed_at is null)
       and ($3::uuid is null or exists (select from api_keys k where k.id = $3 and k.revoked_at is null and (k.expires_at is null or k.expires_at > now())))`,
    [agentId, userId, apiKeyId],
  );
  const row = rows[0];
  return row && { agent: row, spaces: row.spaces };
}

export interface ReachRow {
  readonly id: string;
  readonly num: number;
  readonly role: "owner" | "editor" | "viewer";
  readonly is_private: boolean;
}
