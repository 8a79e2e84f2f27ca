/** All SQL on agents as they are shown and managed; what a chat turn needs of them is read elsewhere. */
import { newId } from "../../domain/ids.ts";
import { type Principal, reachedSpaceIds } from "../../domain/tenancy/principal.ts";
import type { AgentChanges, NewAgent } from "../../domain/tenancy/agent-values.ts";
import type { Condition, OrderTerm } from "../../domain/conditions.ts";
import type { Agent } from "../turns/agents-in-chat.ts";
import { type FieldColumns, parameters } from "../filter-sql.ts";
import { type Page, type PageRequest, readPage } from "../page.ts";
import type { Sql } from "../pool.ts";
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

const person = (table: string): string =>
  `jsonb_build_object('id', ${table}.id, 'name', ${table}.name, 'avatar_url', ${table}.avatar_url)`;

const COLUMNS = `a.id, a.name, a.description, a.version, a.agent_type, a.model, a.system_prompt, a.temperature, a.max_tokens, a.reasoning_config,
  a.tool_attachments, a.is_public, a.show_citations, a.save_to_inbox, a.data_access_mode, a.allowed_folder_ids, a.organization_id, a.space_id,
  a.from_system, a.conversation_count, a.created_at, a.updated_at, ${person("c")} as created_by, ${person("e")} as last_edited_by`;
const TABLES = `agents a join spaces s on s.id = a.space_id and s.deleted_at is null
  join users c on c.id = a.created_by join users e on e.id = a.last_edited_by`;

const FIELDS: FieldColumns = {
  id: "a.id",
  name: "a.name",
  description: "a.description",
  version: "a.version",
  agent_type: "a.agent_type",
  model: "a.model",
  is_public: "a.is_public",
  show_citations: "a.show_citations",
  save_to_inbox: "a.save_to_inbox",
  data_access_mode: "a.data_access_mode",
  organization_id: "a.organization_id",
  space_id: "a.space_id",
  conversation_count: "a.conversation_count",
  created_by: "a.created_by",
  created_at: "a.created_at",
  updated_at: "a.updated_at",
};

interface Search {
  readonly filters: readonly Condition[];
  readonly order_by: readonly OrderTerm[];
}

/** A page of the agents that the caller may use: of the spaces reached, and public ones unless a key was narrowed to spaces. */
export async function searchAgents(
  sql: Sql,
  principal: Principal,
  search: Search,
  page: PageRequest,
): Promise<Page<AgentRecord>> {
  const params = parameters([
    reachedSpaceIds(principal.reach),
    principal.organization.id,
    principal.isScoped,
  ]);
  const where =
    "a.deleted_at is null and a.organization_id = $2 and (a.space_id = any($1::uuid[]) or (a.is_public and not $3))";
  const filters = { conditions: search.filters, fields: FIELDS };
  return readPage<AgentRecord>(
    sql,
    {
      columns: COLUMNS,
      from: TABLES,
      where,
      order: { terms: search.order_by, fields: FIELDS },
      params,
      filters,
    },
    page,
  );
}

/** The agent of the organization, where it lives; whether the caller may see it is the policy's to decide. */
export async function findAgentRecord(
  sql: Sql,
  organizationId: string,
  id: string,
  lock: "" | "for no key update of a" = "",
): Promise<AgentRecord | undefined> {
  const { rows } = await sql.query<AgentRecord>(
    `select ${COLUMNS} from ${TABLES} where a.id = $1 and a.organization_id = $2 and a.deleted_at is null ${lock}`,
    [id, organizationId],
  );
  return rows[0];
}

/** True where every id is that of a live folder in a space that the caller reaches. */
export async function reachesFolders(
  sql: Sql,
  principal: Principal,
  ids: readonly string[],
): Promise<boolean> {
  const wanted = [...new Set(ids)];
  const { rows } = await sql.query<{ count: number }>(
    "select count(*)::int as count from folders where id = any($1::uuid[]) and space_id = any($2::uuid[]) and deleted_at is null",
    [wanted, reachedSpaceIds(principal.reach)],
  );
  return rows[0]!.count === wanted.length;
}

/** @returns the id of the new agent. @throws DomainError `bad_request` where the space has an agent of that name. */
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
  const statement = `insert into agents (${columns.join(", ")}) values (${columns.map((_, index) => `$${index + 1}`).join(", ")})`;
  await unlessName(sql.query(statement, Object.values(row)));
  return id;
}

/** Raises the last part of a version of three numbers. */
const NEXT_VERSION =
  "regexp_replace(version, '\\d+$', (coalesce(substring(version from '\\d+$'), '0')::numeric + 1)::text)";

/**
 * Changes what `patch` names, raises `version` and notes who edited it; where nothing differs it stays as it is.
 * @returns whether anything changed. @throws DomainError `bad_request` where the space has an agent of that name.
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
  const assignments = columns.map(({ column, value }) => `${column} = ${value}`).join(", ");
  const differences = columns.map(({ column, value }) => `${column} is distinct from ${value}`).join(" or ");
  const { rowCount } = await unlessName(
    sql.query(
      `update agents set ${assignments}, version = ${NEXT_VERSION}, last_edited_by = $2, updated_at = now() where id = $1 and (${differences})`,
      [id, editorId, ...fields.map(([, value]) => value)],
    ),
  );
  return rowCount === 1;
}

/** Nobody finds or uses the agent from now on. */
export async function markAgentDeleted(sql: Sql, id: string): Promise<void> {
  await sql.query("update agents set deleted_at = now() where id = $1", [id]);
}

/** Values by column, of the fields that are there. */
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
  return unlessTaken("agents_space_id_lower_idx", "The space has an agent of this name already.", statement);
}
