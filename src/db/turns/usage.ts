/** Adds up what an organization used: turns and tokens by the ledger, documents by the audit log. */
import { parameters } from "../filter-sql.ts";
import { type Page, type PageRequest, readPage } from "../page.ts";
import type { Sql } from "../pool.ts";

export interface UsageRow {
  /** In UTC, such as `2026-01-31`. */
  readonly day: string;
  readonly user_id: string | null;
  readonly api_key_id: string | null;
  /** Null for documents, which no agent uploads, and for searches that the model reranked. */
  readonly agent_id: string | null;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly turns: number;
  readonly documents: number;
  /** The sizes of those documents that still exist. */
  readonly bytes: number;
}

/** What was used by day, user, key and agent of $1, from $2 to $3; documents on their upload's day. */
const USAGE = `(
  select to_char(at at time zone 'UTC', 'YYYY-MM-DD') as day,
         user_id,
         api_key_id,
         agent_id,
         sum(prompt_tokens)::bigint as prompt_tokens,
         sum(completion_tokens)::bigint as completion_tokens,
         sum(turns)::bigint as turns,
         sum(documents)::bigint as documents,
         sum(bytes)::bigint as bytes
  from (
    select turn.started_at as at,
           turn.user_id,
           turn.api_key_id,
           turn.agent_id,
           calls.prompt_tokens,
           calls.completion_tokens,
           case when turn.is_rerank then 0 else 1 end as turns,
           0 as documents,
           0 as bytes
    from turns turn
    cross join lateral (
      select coalesce(sum(prompt_tokens), 0) as prompt_tokens,
             coalesce(sum(completion_tokens), 0) as completion_tokens
      from turn_calls
      where turn_id = turn.id
    ) calls
    where turn.organization_id = $1
      and turn.started_at >= $2
      and turn.started_at < $3
    union all
    select entry.at,
           entry.actor_id,
           entry.api_key_id,
           null,
           0,
           0,
           0,
           1,
           coalesce(document.file_size, 0)
    from audit_log entry
    left join documents document
      on document.id = case when entry.resource_type = 'document' then entry.resource_id::uuid end
    where entry.organization_id = $1
      and entry.at >= $2
      and entry.at < $3
      and entry.action = 'documents:create'
      and entry.outcome = 'success'
  ) uses
  group by 1, 2, 3, 4
) usage`;

export interface TokenOwner {
  readonly organizationId: string;
  /** Null for turns of every user, with any key. */
  readonly userId: string | null;
  /** Null for turns with every key and without one; always null if `userId` is. */
  readonly apiKeyId: string | null;
}

const TOKENS_OF_ORGANIZATION = `
  select coalesce(sum(call.prompt_tokens + call.completion_tokens), 0)::bigint as tokens
  from turn_calls call
  where call.organization_id = $1
    and call.at >= $2::timestamp at time zone 'UTC'`;

/**
 * Goes by the turns of the user, which are few, not by the calls of the organization. Calls are written when
 * their turn has ended, or after an outage: turns of the day before the month count too.
 */
const TOKENS_OF_USER = `
  select coalesce(sum(call.prompt_tokens + call.completion_tokens), 0)::bigint as tokens
  from turn_calls call
  join turns turn on turn.id = call.turn_id
  where call.organization_id = $1
    and call.at >= $2::timestamp at time zone 'UTC'
    and turn.organization_id = $1
    and turn.user_id = $3
    and ($4::uuid is null or turn.api_key_id = $4)
    and turn.started_at >= $2::timestamp at time zone 'UTC' - interval '1 day'`;

/**
 * Adds up prompt and completion tokens since the beginning of a month: of one user, one key of theirs, or the
 * whole organization.
 * @param firstDay the first day of the month in UTC, `YYYY-MM-01`.
 */
export async function tokensOfMonth(
  sql: Sql,
  firstDay: string,
  { organizationId, userId, apiKeyId }: TokenOwner,
): Promise<number> {
  const { rows } = await (userId === null
    ? sql.query<{ tokens: string }>(TOKENS_OF_ORGANIZATION, [organizationId, firstDay])
    : sql.query<{ tokens: string }>(TOKENS_OF_USER, [organizationId, firstDay, userId, apiKeyId]));
  return Number(rows[0]?.tokens ?? 0);
}

export interface TokenUse {
  readonly budget: "organization" | "user" | "api_key";
  /** The organization, the user or the API key that the budget is of. */
  readonly owner_id: string;
  readonly used: number;
}

/** As the budgets count: by the turns of the day before the month on, and their calls of the month. */
const USES_OF_MONTH = `(
  with used as (
    select turn.user_id,
           turn.api_key_id,
           sum(call.prompt_tokens + call.completion_tokens)::bigint as tokens
    from turn_calls call
    left join turns turn
      on turn.id = call.turn_id
      and turn.organization_id = $1
    where call.organization_id = $1
      and call.at >= $2::timestamp at time zone 'UTC'
    group by 1, 2
  )
  select 0 as place,
         'organization' as budget,
         id as owner_id,
         (select coalesce(sum(tokens), 0) from used)::bigint as used
  from organizations
  where id = $1
  union all
  select 1, 'user', user_id, sum(tokens)::bigint
  from used
  where user_id is not null
  group by user_id
  union all
  select 2, 'api_key', api_key_id, sum(tokens)::bigint
  from used
  where api_key_id is not null
  group by api_key_id
) uses`;

/**
 * Lists the tokens that count against each budget since the beginning of a month: of the organization, then
 * of users and of keys that used any, most first.
 * @param firstDay the first day of the month in UTC, `YYYY-MM-01`.
 */
export async function listTokenUse(
  sql: Sql,
  organizationId: string,
  firstDay: string,
  page: PageRequest,
): Promise<Page<TokenUse>> {
  return readPage<TokenUse>(
    sql,
    {
      columns: "budget, owner_id, used",
      from: USES_OF_MONTH,
      where: "true",
      order: "place, used desc, owner_id",
      params: parameters([organizationId, firstDay]),
    },
    page,
  );
}

interface Period {
  /** ISO 8601; null means no bound. */
  readonly from: string | null;
  /** Like `from`, and exclusive. */
  readonly to: string | null;
}

/** Lists what was used by day, user, key and agent, newest days first. */
export async function readUsage(
  sql: Sql,
  organizationId: string,
  { from, to }: Period,
  page: PageRequest,
): Promise<Page<UsageRow>> {
  const params = parameters([organizationId, from ?? "-infinity", to ?? "infinity"]);
  return readPage<UsageRow>(
    sql,
    {
      columns: "*",
      from: USAGE,
      where: "true",
      order: "day desc, user_id, api_key_id nulls last, agent_id nulls last",
      params,
    },
    page,
  );
}
