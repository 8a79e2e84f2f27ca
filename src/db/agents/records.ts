/** Lists, finds and changes agents for their owners. Chat reads them by `turns/agents-in-chat.ts`. */
import { newId } from "../../domain/ids.ts";
import { type Principal, reachedSpaceIds } from "../../domain/tenancy/principal.ts";
import type { AgentChanges, NewAgent } from "../../domain/tenancy/agent-values.ts";
import type { Condition, OrderTerm } from "../../domain/requests/conditions.ts";
import type { Agent } from "../turns/agents-in-chat.ts";
import { type FieldColumns, parameters } from "../filter-sql.ts";
import { type Page, type PageRequest, readPage } from "../page.ts";
import type { Locking, Sql } from "../sql.ts";
import { unlessTaken } from "../unique-names.ts";

interface Person {
  readonly id: string;
  readonly name: string;
  readonly avatar_url: string | null;
}

export interface AgentRecord extends Omit<
  Agent,
  "space_num" | "tool_attachments" | "allowed_folder_ids" | "reasoning_config"
> {
  readonly description: string;
  readonly version: string;
  readonly tool_attachments: { tool_id: string; config: Record<string, unknown> | null }[];
  readonly reasoning_config: Record<string, unknown> | null;
  readonly allowed_folder_ids: string[] | null;
  readonly save_to_inbox: boolean;
  readonly from_system: boolean;
  readonly conversation_count: number;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly created_by: Person;
  readonly last_edited_by: Person;
}

const COLUMNS = `
  agent.id,
  agent.name,
  agent.description,
  agent.version,
  agent.agent_type,
  agent.model,
  agent.system_prompt,
  agent.temperature,
  agent.max_tokens,
  agent.reasoning_config,
  agent.tool_attachments,
  agent.is_public,
  agent.show_citations,
  agent.require_support,
  agent.save_to_inbox,
  agent.data_access_mode,
  agent.allowed_folder_ids,
  agent.organization_id,
  agent.space_id,
  agent.from_system,
  agent.conversation_count,
  agent.created_at,
  agent.updated_at,
  jsonb_build_object(
    'id', creator.id,
    'name', creator.name,
    'avatar_url', creator.avatar_url
  ) as created_by,
  jsonb_build_object(
    'id', editor.id,
    'name', editor.name,
    'avatar_url', editor.avatar_url
  ) as last_edited_by`;

/** Agents of live spaces, with the users who made and last edited them. */
const TABLES = `
  agents agent
  join spaces space on space.id = agent.space_id and space.deleted_at is null
  join users creator on creator.id = agent.created_by
  join users editor on editor.id = agent.last_edited_by`;

const FIELDS: FieldColumns = {
  id: "agent.id",
  name: "agent.name",
  description: "agent.description",
  version: "agent.version",
  agent_type: "agent.agent_type",
  model: "agent.model",
  is_public: "agent.is_public",
  show_citations: "agent.show_citations",
  require_support: "agent.require_support",
  save_to_inbox: "agent.save_to_inbox",
  data_access_mode: "agent.data_access_mode",
  organization_id: "agent.organization_id",
  space_id: "agent.space_id",
  conversation_count: "agent.conversation_count",
  created_by: "agent.created_by",
  created_at: "agent.created_at",
  updated_at: "agent.updated_at",
};

/** Lists the agents that the caller may use: in reach, and public ones unless the key was narrowed. */
export async function searchAgents(
  sql: Sql,
  principal: Principal,
  search: { readonly filters: readonly Condition[]; readonly order_by: readonly OrderTerm[] },
  page: PageRequest,
): Promise<Page<AgentRecord>> {
  const params = parameters([
    reachedSpaceIds(principal.reach),
    principal.organization.id,
    principal.isScoped,
  ]);
  const filters = { conditions: search.filters, fields: FIELDS };
  return readPage<AgentRecord>(
    sql,
    {
      columns: COLUMNS,
      from: TABLES,
      where: `agent.deleted_at is null
       and agent.organization_id = $2
       and (agent.space_id = any($1::uuid[]) or (agent.is_public and not $3))`,
      order: { terms: search.order_by, fields: FIELDS },
      params,
      filters,
    },
    page,
  );
}

/** Finds an agent, whether or not the caller may see it: `auth/policy.ts` decides that. */
export async function findAgentRecord(
  sql: Sql,
  organizationId: string,
  id: string,
  { lock = false }: Locking = {},
): Promise<AgentRecord | undefined> {
  const { rows } = await sql.query<AgentRecord>(
    `select ${COLUMNS}
     from ${TABLES}
     where agent.id = $1
       and agent.organization_id = $2
       and agent.deleted_at is null
     ${lock ? "for no key update of agent" : ""}`,
    [id, organizationId],
  );
  return rows[0];
}

/** Whether each id belongs to a folder in a space that the caller reaches. */
export async function reachesFolders(
  sql: Sql,
  principal: Principal,
  ids: readonly string[],
): Promise<boolean> {
  const wanted = [...new Set(ids)];
  const { rows } = await sql.query<{ count: number }>(
    `select count(*)::int as count
     from folders
     where id = any($1::uuid[])
       and space_id = any($2::uuid[])
       and deleted_at is null`,
    [wanted, reachedSpaceIds(principal.reach)],
  );
  return rows[0]!.count === wanted.length;
}

/**
 * Makes an agent.
 * @returns its id.
 * @throws DomainError `bad_request` if the space has an agent of that name.
 */
export async function insertAgent(
  sql: Sql,
  { organization, user }: Principal,
  agent: NewAgent,
): Promise<string> {
  const id = newId();
  const { space_id: spaceId, ...configuration } = agent;
  const row = {
    id,
    organization_id: organization.id,
    space_id: spaceId,
    created_by: user.id,
    last_edited_by: user.id,
    ...columnsOf(configuration),
  };
  const columns = Object.keys(row);
  const placeholders = columns.map((_, index) => `$${index + 1}`);
  await unlessName(
    sql.query(
      `insert into agents (${columns.join(", ")})
       values (${placeholders.join(", ")})`,
      Object.values(row),
    ),
  );
  return id;
}

/** Raises the number that the version ends with; a version that ends with anything else stays. */
const NEXT_VERSION =
  "regexp_replace(version, '\\d+$', (coalesce(substring(version from '\\d+$'), '0')::numeric + 1)::text)";

/**
 * Changes what `patch` names, raises `version` and notes who edited the agent. If nothing differs, it stays
 * as it is.
 * @returns whether anything changed.
 * @throws DomainError `bad_request` if the space has an agent of that name.
 */
export async function updateAgent(
  sql: Sql,
  id: string,
  editorId: string,
  patch: AgentChanges,
): Promise<boolean> {
  const fields = Object.entries(columnsOf(patch));
  if (fields.length === 0) return false;
  const columns = fields.map(([column], index) => ({ column, value: `$${index + 3}` }));
  const assignments = columns.map(({ column, value }) => `${column} = ${value}`);
  const differences = columns.map(({ column, value }) => `${column} is distinct from ${value}`);
  const { rowCount } = await unlessName(
    sql.query(
      `update agents
       set ${assignments.join(", ")},
           version = ${NEXT_VERSION},
           last_edited_by = $2,
           updated_at = now()
       where id = $1
         and (${differences.join(" or ")})`,
      [id, editorId, ...fields.map(([, value]) => value)],
    ),
  );
  return rowCount === 1;
}

export async function markAgentDeleted(sql: Sql, id: string): Promise<void> {
  await sql.query("update agents set deleted_at = now() where id = $1", [id]);
}

/** @returns values by column, without fields that are undefined. */
function columnsOf({
  reasoning_config: reasoning,
  tool_attachments: tools,
  ...plain
}: AgentChanges): Record<string, unknown> {
  const all = {
    ...plain,
    reasoning_config: reasoning && JSON.stringify(reasoning),
    tool_attachments:
      tools && JSON.stringify(tools.map(({ tool_id, config }) => ({ tool_id, config: config ?? null }))),
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

function unlessName<T>(statement: Promise<T>): Promise<T> {
  return unlessTaken(
    "agents_space_id_lower_idx",
    "The space already has an agent with this name.",
    statement,
  );
}
