/** Reads what a caller may see of a part of the log, at a cost that is bounded whatever the log holds. */
import { authorizeListing, reachFor } from "../../auth/policy.ts";
import type { EventRow } from "../../db/events/event-row.ts";
import {
  type EventFilter,
  type LogEnds,
  type LogPart,
  listEvents,
  readLogEnds,
} from "../../db/events/read.ts";
import { viewerOf } from "../../db/events/visible.ts";
import { type Database, readTenant } from "../../db/pool.ts";
import { DomainError } from "../../domain/errors.ts";
import { type Principal, reachedSpaceIds } from "../../domain/tenancy/principal.ts";
import { cursorOf } from "./cursor.ts";

/**
 * One read looks at no more positions than this, so that it stays cheap even for a caller who sees almost
 * nothing of a long log. Events of one resource have an index of their own.
 */
const POSITIONS_A_READ = 5_000;

export interface EventPage {
  readonly items: readonly EventRow[];
  /** The last position that was looked at. */
  readonly next: number;
}

interface Wanted extends LogPart {
  readonly filter: EventFilter;
  readonly limit: number;
}

/**
 * @param principal must have been looked up after `upTo` was read, so that it reaches the spaces that were
 * made before.
 * @throws DomainError `permission_denied`; `cursor_expired` if what comes after `after` is not kept any more.
 */
export async function readEventPage(
  db: Database,
  principal: Principal,
  { after, upTo, filter, limit }: Wanted,
): Promise<EventPage> {
  authorizeListing(principal, "events:read");
  const viewer = viewerOf(principal, reachedSpaceIds(reachFor(principal, "spaces:read")));
  const bound = filter.resourceId === undefined ? Math.min(upTo, after + POSITIONS_A_READ) : upTo;
  return readTenant(
    db,
    principal.organization,
    async (sql) => {
      const ends = await readLogEnds(sql, principal.organization.id);
      requireKept(principal, ends, after);
      const items = await listEvents(sql, viewer, { after, upTo: bound }, { ...filter, limit });
      return { items, next: items.length < limit ? Math.max(after, bound) : items.at(-1)!.position };
    },
    // Otherwise retention could delete events between the two statements.
    "isolation level repeatable read",
  );
}

/** A position after the end is from before the log was restored. @throws DomainError `cursor_expired` */
export function requireKept({ organization }: Principal, { last, expired }: LogEnds, position: number): void {
  if (position >= expired && position <= last) return;
  throw new DomainError("cursor_expired", "The events after this cursor are no longer kept.", {
    oldestCursor: cursorOf(organization.num, expired),
  });
}
