/** All SQL that deletes events and deliveries that are past their retention. */
import { type Database, queryOnce } from "../pool.ts";

/**
 * Deletes at most `limit` of the organization's oldest events, up to the first that is younger than `days`,
 * and notes how far the log is not kept any more. The oldest are those with the first positions: one that was
 * committed late stays until those before it are old.
 * @returns how many it deleted.
 */
export async function deleteOldEvents(
  db: Database,
  organizationId: string,
  days: number,
  limit: number,
): Promise<number> {
  const { rowCount } = await queryOnce(
    db.system,
    `with oldest as (
       select position,
              occurred_at < now() - make_interval(days => $2) as is_old
       from events
       where organization_id = $1
         and position is not null
       order by position
       limit $3
     ),
     expired as (
       select max(position) as position
       from oldest
       where position < coalesce(
         (select min(position) from oldest where not is_old),
         (select max(position) + 1 from oldest)
       )
     ),
     noted as (
       update event_positions
       set expired_position = expired.position
       from expired
       where organization_id = $1
         and expired.position > expired_position
     )
     delete from events
     using expired
     where events.organization_id = $1
       and events.position <= expired.position`,
    [organizationId, days, limit],
  );
  return rowCount ?? 0;
}

/** Deletes at most `limit` settled deliveries older than `days`. @returns how many it deleted. */
export async function deleteOldDeliveries(db: Database, days: number, limit: number): Promise<number> {
  const { rowCount } = await queryOnce(
    db.system,
    `delete from webhook_deliveries
     where num = any(array(
       select num
       from webhook_deliveries
       where created_at < now() - make_interval(days => $1)
         and status <> 'pending'
       limit $2
     ))
       -- Somebody may ask for one again meanwhile.
       and status <> 'pending'`,
    [days, limit],
  );
  return rowCount ?? 0;
}
