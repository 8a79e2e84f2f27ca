/** Makes the deliveries of an endpoint from the log of events, and from the replays that were asked for. */
import { VISIBLE, viewerValues } from "../../events/visible.ts";
import type { Sql } from "../../sql.ts";
import type { Endpoint } from "./endpoint.ts";
import { subscribedTo } from "./subscribed.ts";

/** How many positions of the log one transaction goes through. */
const POSITIONS_A_ROUND = 500;

/**
 * A condition over `events event`: what the endpoint `$7` with the types `$8` in the space `$9` is told. A
 * test is told to the endpoint that it tests alone. An endpoint of the organization is told nothing of
 * private spaces, not even that one was deleted.
 */
const CARRIED = `
  case when event.type = 'webhook.test' then event.resource_id = $7::uuid
       else ${subscribedTo("$8::text[]")}
            and case when $9::uuid is null then not exists (
                       select from spaces private
                       where private.id = event.space_id
                         and private.is_private
                     )
                     else event.space_id = $9::uuid
                          or (event.space_ids <> '{}' and event.space_ids <@ array[$9::uuid])
                end
  end`;

/**
 * A row that says that a stretch of the log expired before deliveries were made of it. The statement that
 * reads the events has it, because retention may delete some at any time. `$1` is the organization, `$7` the
 * endpoint, and `$10` the position up to which deliveries were made.
 */
const SKIPPED = `
     log as (
       select expired_position
       from event_positions
       where organization_id = $1
     ),
     skipped as (
       insert into webhook_deliveries (
         id, organization_id, webhook_id, status, error_code, completed_at
       )
       select gen_random_uuid(), $1, $7, 'skipped', 'expired', now()
       from log
       where log.expired_position > $10
     )`;

/** Makes the deliveries of the next positions. @returns whether the log goes on behind them. */
export async function makeDeliveries(sql: Sql, endpoint: Endpoint): Promise<boolean> {
  const { position, lastPosition } = endpoint;
  if (position >= lastPosition) return false;
  const until = Math.min(position + POSITIONS_A_ROUND, lastPosition);
  await sql.query(
    `with ${SKIPPED},
     made as (
       insert into webhook_deliveries (
         id, organization_id, webhook_id, event_num, event_id, event_type, resource_id
       )
       select gen_random_uuid(), event.organization_id, $7, event.num, event.id, event.type, event.resource_id
       from events event
       where ${VISIBLE}
         and ${CARRIED}
         and event.position > $10
         and event.position <= $11
       order by event.position
       on conflict (webhook_id, event_num) do nothing
     )
     update webhooks
     set position = greatest($11, (select expired_position from log))
     where id = $7`,
    [...viewerValues(endpoint.viewer), endpoint.id, endpoint.types, endpoint.spaceId, position, until],
  );
  return until < lastPosition;
}

interface Replay {
  readonly id: string;
  readonly types: readonly string[];
  readonly position: number;
  readonly until_position: number;
  readonly made_position: number;
  readonly occurred_from: Date;
  readonly occurred_until: Date;
}

/**
 * Goes on with the oldest open replay: deliveries that are there become pending again under the same id, and
 * those that are missing are made. It does not get ahead of {@link makeDeliveries}, so that the first
 * attempts of a resource keep their order.
 * @returns whether replays are left.
 */
export async function makeReplays(sql: Sql, endpoint: Endpoint): Promise<boolean> {
  const { rows } = await sql.query<Replay>(
    `select replay.id, replay.types, replay.position, replay.until_position, replay.occurred_from,
            replay.occurred_until, webhook.position as made_position
     from webhook_replays replay
     join webhooks webhook on webhook.id = replay.webhook_id
     where replay.webhook_id = $1
       and replay.completed_at is null
     order by replay.created_at, replay.id
     limit 2`,
    [endpoint.id],
  );
  const replay = rows[0];
  if (replay === undefined) return false;
  const until = Math.min(replay.position + POSITIONS_A_ROUND, replay.until_position, replay.made_position);
  if (until < replay.position) return true;
  await sql.query(
    `with ${SKIPPED}
     insert into webhook_deliveries as delivery (
       id, organization_id, webhook_id, event_num, event_id, event_type, resource_id
     )
     select gen_random_uuid(), event.organization_id, $7, event.num, event.id, event.type, event.resource_id
     from events event
     where ${VISIBLE}
       and ${CARRIED}
       and event.position > $10
       and event.position <= $11
       and event.occurred_at >= $12
       and event.occurred_at < $13
       and ($14::text[] = '{}' or event.type = any($14::text[]))
     order by event.position
     on conflict (webhook_id, event_num) do update
     set status = 'pending',
         error_code = null,
         attempts = 0,
         next_attempt_at = now(),
         http_status = null,
         gives_up_at = null,
         completed_at = null
     where delivery.status <> 'pending'`,
    viewerValues(endpoint.viewer).concat(
      [endpoint.id, endpoint.types, endpoint.spaceId, replay.position, until],
      [replay.occurred_from, replay.occurred_until, replay.types],
    ),
  );
  const isDone = until >= replay.until_position;
  await sql.query(
    `update webhook_replays
     set position = $2,
         completed_at = case when $3 then now() end
     where id = $1`,
    [replay.id, until, isDone],
  );
  return !isDone || rows.length > 1;
}
