/** Writes down chat turns: which process has them, how they ended, what they used. No messages. */
import type { TurnStatus } from "../../domain/work/turn.ts";
import { noteEvents } from "../events/noted.ts";
import { LEAVE_TURNS } from "./adoption.ts";
import { type Database, inTransaction, queryOnce, type Sql } from "../pool.ts";

export interface TurnRow {
  readonly id: string;
  readonly organization_id: string;
  /** Null if no agent was asked but the model itself. */
  readonly space_id: string | null;
  /** Null as `space_id` is. */
  readonly agent_id: string | null;
  readonly user_id: string;
  readonly api_key_id: string | null;
  readonly api_process_id: string;
  readonly starts_conversation: boolean;
  readonly started_at: Date;
}

export interface TurnEnd extends TurnRow {
  readonly status: Exclude<TurnStatus, "open" | "lost">;
  readonly error_code: string | null;
  readonly ended_at: Date;
  /** True for calls that reranked a search: they are no chat turn, and only in the books for their tokens. */
  readonly is_rerank?: boolean;
}

export interface TurnCallRow {
  readonly turn_id: string;
  readonly call_no: number;
  readonly organization_id: string;
  readonly model: string;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
}

const OPEN_TURNS = `
  insert into turns (
    id, organization_id, space_id, agent_id, user_id, api_key_id, api_process_id,
    starts_conversation, started_at, status
  )
  select id, organization_id, space_id, agent_id, user_id, api_key_id, api_process_id,
         starts_conversation, started_at, 'open'
  from jsonb_populate_recordset(null::turns, $1)
  on conflict (id) do nothing`;

const END_TURNS = `
  with ended as (
    insert into turns (
      id, organization_id, space_id, agent_id, user_id, api_key_id, api_process_id,
      starts_conversation, started_at, status, error_code, ended_at, is_rerank
    )
    select id, organization_id, space_id, agent_id, user_id, api_key_id, api_process_id,
           starts_conversation, started_at, status, error_code, ended_at, coalesce(is_rerank, false)
    from jsonb_populate_recordset(null::turns, $1)
    on conflict (id) do update
    set status = excluded.status,
        error_code = excluded.error_code,
        ended_at = excluded.ended_at
    where turns.status in ('open', 'lost')
    returning agent_id, starts_conversation
  ), conversations as (
    select agent_id, count(*) as count
    from ended
    where starts_conversation
    group by agent_id
  )
  update agents
  set conversation_count = conversation_count + conversations.count
  from conversations
  where agents.id = conversations.agent_id`;

const INSERT_CALLS = `
  insert into turn_calls (turn_id, call_no, organization_id, model, prompt_tokens, completion_tokens)
  select turn_id, call_no, organization_id, model, prompt_tokens, completion_tokens
  from jsonb_populate_recordset(null::turn_calls, $1)
  on conflict (turn_id, call_no) do nothing`;

/** Notes turns as open, in one statement. Idempotent: a turn that was noted already stays as it is. */
export async function insertOpenTurns(db: Database, turns: readonly TurnRow[]): Promise<void> {
  await queryOnce(db.system, {
    name: "open turns",
    text: OPEN_TURNS,
    values: [JSON.stringify(turns)],
  });
}

/**
 * Writes how turns ended and what their calls used, in one transaction. Idempotent: a turn ends once, a call
 * is noted once, and a conversation is counted when its turn ends. If a turn was taken for lost, its own
 * process may still say how it ended.
 * @param left ids of turns that have ended, by this write or before, without a workflow that adopts them.
 */
export async function writeTurnEnds(
  db: Database,
  turns: readonly TurnEnd[],
  calls: readonly TurnCallRow[],
  left: readonly string[] = [],
): Promise<void> {
  await inTransaction(db.system, async (sql) => {
    for (const turn of turns) noteEvents(sql, turn.organization_id);
    // The event of a turn's end counts the calls that are there.
    await sql.query({ name: "turn calls", text: INSERT_CALLS, values: [JSON.stringify(calls)] });
    await sql.query({ name: "end turns", text: END_TURNS, values: [JSON.stringify(turns)] });
    if (left.length > 0) await sql.query({ name: "leave turns", text: LEAVE_TURNS, values: [left] });
  });
}

interface TurnOfOrganization {
  readonly id: string;
  readonly organization_id: string;
}

/** Finds those of the turns that the process ran, however they ended. */
export async function findTurnsOfProcess(
  db: Database,
  apiProcessId: string,
  turnIds: readonly string[],
): Promise<TurnOfOrganization[]> {
  const { rows } = await queryOnce<TurnOfOrganization>(
    db.system,
    `select id, organization_id
     from turns
     where id = any($1::uuid[])
       and api_process_id = $2`,
    [turnIds, apiProcessId],
  );
  return rows;
}

/** Ends a dead process's open turns as lost. Idempotent. @returns all it lost, to end their workflows. */
export async function loseTurns(db: Database, apiProcessId: string): Promise<TurnOfOrganization[]> {
  await queryOnce(
    db.system,
    `update turns
     set status = 'lost',
         error_code = 'turn_lost',
         ended_at = now()
     where api_process_id = $1
       and status = 'open'`,
    [apiProcessId],
  );
  const { rows } = await queryOnce<TurnOfOrganization>(
    db.system,
    `select id, organization_id
     from turns
     where api_process_id = $1
       and status = 'lost'`,
    [apiProcessId],
  );
  return rows;
}

const LONGEST_TURN = "1 hour";

/** Of a row of `turns`: it is open, and not so old that its process must be gone. */
export const IS_UNDER_WAY = `status = 'open' and started_at > now() - interval '${LONGEST_TURN}'`;

/** Ends a user's open turns as cancelled, in the tenant's transaction. Processes notice in a second. */
export async function cancelTurnsOfUser(sql: Sql, organizationId: string, userId: string): Promise<void> {
  noteEvents(sql, organizationId);
  await sql.query(
    `update turns
     set status = 'cancelled',
         ended_at = now()
     where organization_id = $1
       and user_id = $2
       and ${IS_UNDER_WAY}`,
    [organizationId, userId],
  );
}

/** Finds which running turns were cancelled, or had their user removed before they were noted. */
export async function findCancelledTurns(
  db: Database,
  turns: readonly Pick<TurnRow, "id" | "user_id">[],
): Promise<string[]> {
  const { rows } = await queryOnce<{ id: string }>(
    db.system,
    `select running.id
     from unnest($1::uuid[], $2::uuid[]) as running (id, user_id)
     where exists (
         select
         from turns
         where turns.id = running.id
           and turns.status = 'cancelled'
       )
       or running.user_id in (select removed_users($2::uuid[]))`,
    [turns.map((turn) => turn.id), turns.map((turn) => turn.user_id)],
  );
  return rows.map((row) => row.id);
}
