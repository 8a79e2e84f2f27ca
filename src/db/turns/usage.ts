/** All SQL that adds up what an organization used: turns and tokens from the books of chat, documents from the audit log. */
import { parameters } from "../filter-sql.ts";
import { type Page, type PageRequest, readPage } from "../page.ts";
import type { Sql } from "../pool.ts";

export interface UsageRow {
  /** In UTC: `2026-01-31`. */
  readonly day: string;
  readonly user_id: string | null;
  readonly api_key_id: string | null;
  /** Null for documents, which no agent uploads. */
  readonly agent_id: string | null;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly turns: number;
  readonly documents: number;
  /** Of those of the documents that still exist. */
  readonly bytes: number;
}

/** `$1` is the organization, `$2` and `$3` bound the time. A document counts on the day of its upload, whatever became of it. */
const USES = `(select to_char(at at time zone 'UTC', 'YYYY-MM-DD') as day, user_id, api_key_id, agent_id, sum(prompt_tokens)::bigint as prompt_tokens,
    sum(completion_tokens)::bigint as completion_tokens, sum(turns)::bigint as turns, sum(documents)::bigint as documents, sum(bytes)::bigint as bytes
  from (
    select t.started_at as at, t.user_id, t.api_key_id, t.agent_id, c.prompt_tokens, c.completion_tokens, 1 as turns, 0 as documents, 0 as bytes
    from turns t cross join lateral (
      select coalesce(sum(prompt_tokens), 0) as prompt_tokens, coalesce(sum(completion_tokens), 0) as completion_tokens from turn_calls where turn_id = t.id) c
    where t.organization_id = $1 and t.started_at >= $2 and t.started_at < $3
    union all
    select l.at, l.actor_id, l.api_key_id, null, 0, 0, 0, 1, coalesce(d.file_size, 0)
    from audit_log l left join documents d on d.id = case when l.resource_type = 'document' then l.resource_id::uuid end
    where l.organization_id = $1 and l.at >= $2 and l.at < $3 and l.action = 'documents:create' and l.outcome = 'success') uses
  group by 1, 2, 3, 4) u`;

export interface TokenOwner {
  readonly organizationId: string;
  /** Null for turns of every user, of whatever key. */
  readonly userId: string | null;
  /** Null for turns of every key, and of none; always so where `userId` is null. */
  readonly apiKeyId: string | null;
}

/** A call is of a turn that started earlier: the books of a turn are written when it has ended, and later after an outage. */
const BOOKS_LATE = "1 day";

/** Prompt and completion tokens since the first day of a month in UTC, `YYYY-MM-01`: of one user, one key of theirs, or the whole organization. */
export async function tokensOfMonth(
  sql: Sql,
  firstDay: string,
  { organizationId, userId, apiKeyId }: TokenOwner,
): Promise<number> {
  const sum =
    "select coalesce(sum(call.prompt_tokens + call.completion_tokens), 0)::bigint as tokens from turn_calls call";
  const ofMonth = "call.organization_id = $1 and call.at >= $2::timestamp at time zone 'UTC'";
  // By the user's turns, of which there are few, and not by the organization's calls.
  const ofUser = `turn.organization_id = $1 and turn.user_id = $3 and ($4::uuid is null or turn.api_key_id = $4)
    and turn.started_at >= $2::timestamp at time zone 'UTC' - interval '${BOOKS_LATE}'`;
  const { rows } = await (userId === null
    ? sql.query<{ tokens: string }>(`${sum} where ${ofMonth}`, [organizationId, firstDay])
    : sql.query<{ tokens: string }>(
        `${sum} join turns turn on turn.id = call.turn_id where ${ofMonth} and ${ofUser}`,
        [organizationId, firstDay, userId, apiKeyId],
      ));
  return Number(rows[0]?.tokens ?? 0);
}

interface Period {
  /** ISO 8601; null is no bound. */
  readonly from: string | null;
  /** Exclusive. */
  readonly to: string | null;
}

/** A page of what was used by day, user, key and agent; newest days first. */
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
      from: USES,
      where: "true",
      order: "day desc, user_id, api_key_id nulls last, agent_id nulls last",
      params,
    },
    page,
  );
}
