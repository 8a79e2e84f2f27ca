/** Hands responses in the background from processes that are gone to those that are there. */
import { IS_HELD } from "../instance/process-leases.ts";
import { type Database, queryOnce } from "../pool.ts";
import { COLUMNS, type ResponseFence, type ResponseRow, UNDER_WAY } from "./responses.ts";

export interface TakenResponse extends ResponseRow {
  readonly organization_id: string;
  readonly organization_num: number;
}

/** No response of a live process is begun for so long without being in its hands. */
const BEGUN_WITHIN = "interval '30 seconds'";

/**
 * Takes background responses for the process `apiProcessId`, oldest first and organizations in turn: those
 * whose process is gone, and those that the process has let go of, because it could not write them, and that
 * are not among `held`.
 */
export async function takeOrphans(
  db: Database,
  apiProcessId: string,
  held: readonly string[],
  limit: number,
): Promise<TakenResponse[]> {
  const { rows } = await queryOnce<TakenResponse>(db.system, {
    name: "responses.take-orphans",
    text: `update responses response
       set api_process_id = $1,
           attempt = response.attempt + 1,
           retry_at = null
       from organizations organization
       where organization.id = response.organization_id
         and organization.deleted_at is null
         and response.id = any(array(
           select orphan.id
           from responses orphan
           join (
             select id, row_number() over (partition by organization_id order by created_at) as place
             from responses
             where is_background
               and ${UNDER_WAY}
               and (retry_at is null or retry_at <= now())
           ) queue on queue.id = orphan.id
           where orphan.is_background
             and orphan.${UNDER_WAY}
             and (orphan.retry_at is null or orphan.retry_at <= now())
             and (
               not ${IS_HELD}
               or (
                 orphan.api_process_id = $1
                 and orphan.created_at < now() - ${BEGUN_WITHIN}
                 and not orphan.id = any($3::uuid[])
               )
             )
           order by queue.place, orphan.created_at
           limit $2
           for update of orphan skip locked
         ))
       returning ${COLUMNS},
                 response.organization_id,
                 organization.num as organization_num,
                 false as is_orphan`,
    values: [apiProcessId, limit, held],
  });
  return rows;
}

/** Which of these responses, each with its attempt, a process still has in hand. */
export async function findHeldResponses(
  db: Database,
  held: readonly { readonly id: string; readonly attempt: number }[],
): Promise<string[]> {
  const { rows } = await queryOnce<{ id: string }>(
    db.system,
    `select response.id
     from unnest($1::uuid[], $2::int[]) as held (id, attempt)
     join responses response on response.id = held.id
     where response.attempt = held.attempt
       and response.${UNDER_WAY}`,
    [held.map(({ id }) => id), held.map(({ attempt }) => attempt)],
  );
  return rows.map(({ id }) => id);
}

/** Gives a background response back after an outage: whoever looks after `waitSeconds` takes it. */
export async function postponeResponse(
  db: Database,
  { id, attempt }: ResponseFence,
  { code, waitSeconds }: { readonly code: string; readonly waitSeconds: number },
): Promise<void> {
  await queryOnce(
    db.system,
    `update responses
     set api_process_id = '00000000-0000-0000-0000-000000000000',
         outages = outages + 1,
         waiting_for = $3,
         retry_at = now() + make_interval(secs => $4)
     where id = $1
       and attempt = $2
       and ${UNDER_WAY}`,
    [id, attempt, code, waitSeconds],
  );
}

/** Notes which outage an attempt waits for without being given back; null: it is over. */
export async function noteWaiting(
  db: Database,
  { id, attempt }: ResponseFence,
  code: string | null,
): Promise<void> {
  await queryOnce(
    db.system,
    `update responses
     set waiting_for = $3
     where id = $1
       and attempt = $2
       and ${UNDER_WAY}`,
    [id, attempt, code],
  );
}

/** Gives background responses back that a process cannot finish: the next one to look takes them. */
export async function releaseResponse(db: Database, { id, attempt }: ResponseFence): Promise<void> {
  await queryOnce(
    db.system,
    `update responses
     set api_process_id = '00000000-0000-0000-0000-000000000000'
     where id = $1
       and attempt = $2
       and ${UNDER_WAY}`,
    [id, attempt],
  );
}
