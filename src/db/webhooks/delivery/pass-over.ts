/** Lets endpoints at rest pass over events that are not for them, so that nothing is started for those. */
import type pg from "pg";
import { queryOnce } from "../../pool.ts";
import { subscribedTo } from "./subscribed.ts";

/** Those further behind are left to their workflow, which goes through the log in steps. */
const MOST_POSITIONS = 500;
const ENDPOINTS_A_TIME = 1_000;

/**
 * May be true of an event that the endpoint is not told of in the end, and is true of each that it is told
 * of: make.ts judges precisely. Events of members, spaces and the organization may have changed what its
 * maker reaches, which is its workflow's to find out.
 */
const MAY_CONCERN = `
  case when event.type = 'webhook.test' then event.resource_id = webhook.id
       else event.type like any(array['member.%', 'space.%', 'organization.%'])
            or (
              ${subscribedTo("webhook.types")}
              and (
                webhook.space_id is null
                or event.space_id = webhook.space_id
                or (event.space_ids <> '{}' and event.space_ids <@ array[webhook.space_id])
              )
            )
  end`;

/**
 * Moves endpoints to the end of the log if nothing behind their position may concern them.
 * @param organizationId null: of all organizations.
 */
export async function passOverEvents(system: pg.Pool, organizationId: string | null): Promise<void> {
  for (;;) {
    const { rowCount } = await queryOnce(system, {
      name: "webhooks.pass-over",
      text: `with passing as (
           select webhook.id,
                  log.last_position
           from webhooks webhook
           join event_positions log on log.organization_id = webhook.organization_id
           where webhook.status = 'active'
             and webhook.is_resting
             and ($1::uuid is null or webhook.organization_id = $1)
             and webhook.position < log.last_position
             and webhook.position >= log.expired_position
             and webhook.position >= log.last_position - ${MOST_POSITIONS}
             and not exists (
               select
               from events event
               where event.organization_id = webhook.organization_id
                 and event.position > webhook.position
                 and event.position <= log.last_position
                 and ${MAY_CONCERN}
             )
           limit ${ENDPOINTS_A_TIME}
           for no key update of webhook skip locked
         )
         update webhooks
         set position = passing.last_position
         from passing
         where webhooks.id = passing.id`,
      values: [organizationId],
    });
    if ((rowCount ?? 0) < ENDPOINTS_A_TIME) return;
  }
}
