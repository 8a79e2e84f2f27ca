/** Writes and reads events, for tests that need only a database. */
import { EVENT_COLUMNS, type EventRow } from "../../../src/db/events/event-row.ts";
import { placeEvents } from "../../../src/db/events/place.ts";
import { VISIBLE, type Viewer, viewerOf, viewerValues } from "../../../src/db/events/visible.ts";
import type { OrganizationRef, Sql } from "../../../src/db/pool.ts";
import type { EventType } from "../../../src/domain/events/event-types.ts";
import type { Principal } from "../../../src/domain/tenancy/principal.ts";
import { EVENT_DATA } from "../../../src/schema/event-data.ts";
import type { OwnedDatabase } from "../servers/database.ts";

/** Writes an event that all members see; `data` says which one it is. */
export async function writeEvent(
  sql: Sql,
  organization: OrganizationRef,
  data: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  await sql.query(
    `insert into events (organization_id, type, resource_type, resource_id, data, audience)
     values ($1, 'organization.updated', 'organization', $1, $2, 'organization')`,
    [organization.id, JSON.stringify(data)],
  );
}

/** Places the organization's events, and returns all that the viewer sees, or all that there are. */
export async function eventsOf(
  db: OwnedDatabase,
  organization: OrganizationRef,
  viewer?: Viewer,
): Promise<EventRow[]> {
  await placeEvents(db, organization.id);
  const isVisible =
    viewer === undefined ? "event.organization_id = $1 and event.position is not null" : VISIBLE;
  const { rows } = await db.owner.query<EventRow>(
    `select ${EVENT_COLUMNS}
     from events event
     where ${isVisible}
     order by event.position`,
    viewer === undefined ? [organization.id] : viewerValues(viewer),
  );
  return rows;
}

/** The viewer that the caller is now, in all spaces that it reaches. */
export function viewerIn(principal: Principal): Viewer {
  return viewerOf(principal, [...principal.reach.keys()]);
}

export async function typesSeenBy(
  db: OwnedDatabase,
  organization: OrganizationRef,
  principal: Principal,
): Promise<string[]> {
  return (await eventsOf(db, organization, viewerIn(principal))).map((event) => event.type);
}

/** Fails if an event of the organization has data that the contract does not describe for its type. */
export async function requireDescribedEvents(
  db: OwnedDatabase,
  organization: OrganizationRef,
): Promise<void> {
  for (const { type, data } of await eventsOf(db, organization)) {
    const { error } = EVENT_DATA[type as EventType].strict().safeParse(data);
    if (error !== undefined) throw new Error(`the data of ${type} are not as described: ${error.message}`);
  }
}
