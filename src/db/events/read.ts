/** Statements that read the log of an organization for somebody. */
import { type Database, queryOnce } from "../pool.ts";
import type { Sql } from "../sql.ts";
import { EVENT_COLUMNS, type EventRow } from "./event-row.ts";
import { VISIBLE, type Viewer, viewerValues } from "./visible.ts";

/** How far a log goes. */
export interface LogEnds {
  /** The position of its last event; 0 if there was none yet. */
  readonly last: number;
  /** The last position that is not kept any more. */
  readonly expired: number;
}

export async function readLogEnds(sql: Sql, organizationId: string): Promise<LogEnds> {
  const { rows } = await sql.query<LogEnds>(
    `select last_position as last,
            expired_position as expired
     from event_positions
     where organization_id = $1`,
    [organizationId],
  );
  return rows[0] ?? { last: 0, expired: 0 };
}

/** The position of the last event of each of the organizations that has any. */
export async function readLastPositions(
  db: Database,
  organizationIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const { rows } = await queryOnce<{ organization_id: string; last_position: number }>(
    db.system,
    `select organization_id,
            last_position
     from event_positions
     where organization_id = any($1)`,
    [organizationIds],
  );
  return new Map(rows.map((row) => [row.organization_id, row.last_position]));
}

/** Which events of those that they may see somebody asks for. */
export interface EventFilter {
  /** Undefined: all. */
  readonly types?: readonly string[] | undefined;
  readonly spaceId?: string | undefined;
  readonly resourceId?: string | undefined;
}

/** A part of the log: the positions after `after`, up to and with `upTo`. */
export interface LogPart {
  readonly after: number;
  readonly upTo: number;
}

/** The first `limit` events of the part that the viewer sees and the filter lets through, in their order. */
export async function listEvents(
  sql: Sql,
  viewer: Viewer,
  { after, upTo }: LogPart,
  { types, spaceId, resourceId, limit }: EventFilter & { readonly limit: number },
): Promise<EventRow[]> {
  const { rows } = await sql.query<EventRow>(
    `select ${EVENT_COLUMNS}
     from events event
     where ${VISIBLE}
       and event.position > $7
       and event.position <= $8
       and ($9::text[] is null or event.type = any($9))
       and ($10::uuid is null or event.space_id = $10)
       and ($11::uuid is null or event.resource_id = $11)
     order by event.position
     limit $12`,
    [...viewerValues(viewer), after, upTo, types ?? null, spaceId ?? null, resourceId ?? null, limit],
  );
  return rows;
}
