/** Which events a caller may see: the condition that every statement that reads events for somebody has. */
import { callerIdOf, ownedBy } from "../../domain/tenancy/ownership.ts";
import type { Principal } from "../../domain/tenancy/principal.ts";

export interface Viewer {
  readonly organizationId: string;
  /** Null for a key that sees only what it did itself of what concerns its person. */
  readonly userId: string | null;
  /** The id of the key, or else of the user: how a caller is named in the list of a deleted space. */
  readonly callerId: string;
  /** Keys see nothing of keys, whoever they belong to. */
  readonly hasLoggedIn: boolean;
  /** An administrator who has logged in. */
  readonly isAdmin: boolean;
  readonly spaceIds: readonly string[];
}

/** The viewer that a caller is now, in the spaces that it may read. */
export function viewerOf(principal: Principal, spaceIds: readonly string[]): Viewer {
  const hasLoggedIn = principal.authMethod === "jwt";
  const [userId, onlyOfKey] = ownedBy(principal, "in spaces");
  return {
    organizationId: principal.organization.id,
    userId: onlyOfKey === null ? userId : null,
    callerId: callerIdOf(principal),
    hasLoggedIn,
    isAdmin: hasLoggedIn && principal.organization.role === "admin",
    spaceIds,
  };
}

/**
 * A condition over `events event`, whose parameters $1 to $6 are {@link viewerValues}. It bounds what it lets
 * through by organization and by reach; schema/events.sql says what each audience is.
 */
export const VISIBLE = `
  event.organization_id = $1
  and event.position is not null
  and (
    (event.audience = 'listed' and $3::uuid = any(event.listed_ids))
    or (
      event.audience <> 'listed'
      and (event.space_id is null or event.space_id = any($6::uuid[]))
      and event.space_ids <@ $6::uuid[]
      and case event.audience
            when 'space' then event.space_id is not null
            when 'organization' then true
            when 'admins' then $5::boolean
            when 'user' then
              event.user_id = $2::uuid
              or $5::boolean
              or $3::uuid in (event.api_key_id, event.resource_id)
            when 'login' then (event.user_id = $2::uuid and $4::boolean) or $5::boolean
            when 'own' then
              event.user_id = $2::uuid
              or exists (
                select
                from batches batch
                where batch.id = event.resource_id
                  and batch.api_key_id = $3::uuid
              )
            else false
          end
    )
  )`;

/** The values of $1 to $6 of {@link VISIBLE}. */
export function viewerValues(viewer: Viewer): unknown[] {
  return [
    viewer.organizationId,
    viewer.userId,
    viewer.callerId,
    viewer.hasLoggedIn,
    viewer.isAdmin,
    viewer.spaceIds,
  ];
}
