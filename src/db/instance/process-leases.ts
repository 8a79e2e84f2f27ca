/**
 * All SQL on `api_processes`, the leases of API processes. What a process has under way is held by its lease:
 * once that runs out, turns are ended, and answers are given up or taken over.
 */
import { DEADLINES, PAUSES } from "#timings";
import { type Database, queryOnce } from "../pool.ts";
import { MOST_SHOWN } from "./processes.ts";

/** The lease by which an API process holds its open turns. */
export interface TurnLease {
  readonly api_process_id: string;
  readonly renewed_at: Date;
  readonly open_turns: number;
}

/** Answers are left later than turns, whose sweep runs each second: those have their outcome first. */
const ANSWERS_LEFT_AFTER_MS = DEADLINES.processLease + 2 * PAUSES.sweep;

/** Of a row with an `api_process_id`: that process lives, and goes on with it. */
export const IS_HELD = `exists (
  select
  from api_processes process
  where process.id = api_process_id
    and process.renewed_at > now() - interval '${ANSWERS_LEFT_AFTER_MS} milliseconds'
)`;

/**
 * Renews the lease of an API process.
 * @param isFirst whether the process has no lease yet.
 * @returns false if the lease was gone: others have ended the turns of this process meanwhile.
 */
export async function renewApiProcess(db: Database, id: string, isFirst: boolean): Promise<boolean> {
  const { rows } = await queryOnce<{ created: boolean }>(db.system, {
    name: "process-leases.renew",
    text: `insert into api_processes (id)
       values ($1)
       on conflict (id) do update
       set renewed_at = now()
       returning (xmax = 0) as created`,
    values: [id],
  });
  return isFirst || rows[0]?.created === false;
}

export async function deleteApiProcess(db: Database, id: string): Promise<void> {
  await queryOnce(db.system, "delete from api_processes where id = $1", [id]);
}

export async function findDeadApiProcesses(db: Database): Promise<string[]> {
  const { rows } = await queryOnce<{ id: string }>(db.system, {
    name: "process-leases.dead",
    text: `select id
       from api_processes
       where renewed_at < now() - interval '${DEADLINES.processLease} milliseconds'`,
  });
  return rows.map((row) => row.id);
}

/** Lists at most 500 leases of API processes with the turns that depend on them. */
export async function listTurnLeases(db: Database): Promise<TurnLease[]> {
  const { rows } = await queryOnce<TurnLease>(
    db.system,
    `select process.id as api_process_id,
            process.renewed_at,
            (
              select count(*)
              from turns turn
              where turn.api_process_id = process.id
                and turn.status = 'open'
            )::int as open_turns
     from api_processes process
     order by process.renewed_at desc, process.id
     limit ${MOST_SHOWN}`,
  );
  return rows;
}
